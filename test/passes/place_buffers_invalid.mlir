// RUN: autotune-opt %s --autotune-place-buffers -split-input-file -verify-diagnostics

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  // expected-error @+1 {{expected kernels and views, found 'linalg.exp'}}
  %y = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>, %v: f32) -> tensor<6xf32> {
  // expected-error @+1 {{expected a padding of constant value and non-negative extents}}
  %p = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %v : f32
  } : tensor<4xf32> to tensor<6xf32>
  return %p : tensor<6xf32>
}

// -----

func.func @main(%x: tensor<4xf32>, %i: index) -> tensor<2xf32> {
  // expected-error @+1 {{expected a slice at constant offsets}}
  %s = tensor.extract_slice %x[%i] [2] [1] : tensor<4xf32> to tensor<2xf32>
  return %s : tensor<2xf32>
}
