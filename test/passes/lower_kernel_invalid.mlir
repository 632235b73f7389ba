// RUN: autotune-opt %s --autotune-lower-kernel -split-input-file -verify-diagnostics

// expected-error @+1 {{expected one tiled kernel function}}
module {
  func.func @one(%x: tensor<4xf32>, %dest: tensor<4xf32>, %begin: index, %end: index) -> tensor<4xf32> {
    return %dest : tensor<4xf32>
  }
  func.func @two(%x: tensor<4xf32>, %dest: tensor<4xf32>, %begin: index, %end: index) -> tensor<4xf32> {
    return %dest : tensor<4xf32>
  }
}

// -----

// expected-error @+1 {{expected one tiled kernel function}}
module {
  func.func @untiled(%x: tensor<4xf32>, %dest: tensor<4xf32>) -> tensor<4xf32> {
    return %dest : tensor<4xf32>
  }
}
