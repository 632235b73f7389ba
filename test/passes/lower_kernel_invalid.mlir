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

// -----

// A value of 1 MiB between two operators that were not tiled does not fit the stack.
func.func @large(%x: tensor<512x512xf32>, %dest: tensor<512x512xf32>, %begin: index, %end: index) -> tensor<512x512xf32> {
  // expected-error @+1 {{expected temporaries of at most 262144 bytes, found 1048576}}
  %e = tensor.empty() : tensor<512x512xf32>
  %y = linalg.exp ins(%x : tensor<512x512xf32>) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %z = linalg.transpose ins(%y : tensor<512x512xf32>) outs(%dest : tensor<512x512xf32>) permutation = [1, 0]
  return %z : tensor<512x512xf32>
}
