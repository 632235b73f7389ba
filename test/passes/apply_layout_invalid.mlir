// RUN: autotune-opt %s --autotune-extract-graph --autotune-apply-layout=partition=%S/Inputs/blocked.yaml -verify-diagnostics

// A computed filter cannot be packed at compile time.
func.func @main(%x: tensor<1x8x4x4xf32>, %w: tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x8x4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  // expected-error @+1 {{expected an operator that can compute on blocked channels, found conv2d}}
  %y = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>)
         outs(%f : tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return %y : tensor<1x8x4x4xf32>
}
