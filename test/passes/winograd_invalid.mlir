// RUN: autotune-opt %s -split-input-file -verify-diagnostics --autotune-extract-graph --autotune-apply-layout=partition=%S/Inputs/winograd.yaml

// Every second pixel is no minimal filtering.
func.func @main(%x: tensor<1x8x13x13xf32>) -> tensor<1x16x6x6xf32> {
  %w = arith.constant dense<1.0> : tensor<16x8x3x3xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x16x6x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x16x6x6xf32>) -> tensor<1x16x6x6xf32>
  // expected-error @below {{expected a 3x3 convolution of stride 1 over at least 8 channels under algorithm winograd4}}
  %y = linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>} ins(%x, %w : tensor<1x8x13x13xf32>, tensor<16x8x3x3xf32>)
         outs(%f : tensor<1x16x6x6xf32>) -> tensor<1x16x6x6xf32>
  return %y : tensor<1x16x6x6xf32>
}

// -----

func.func @main(%u: tensor<2x36x8x8xf32>) -> tensor<2x1x3x3x8x8xf32> {
  // expected-error @below {{expected [O, I / c, 3, 3, c, v] of [O, 16, I, v]}}
  %w = autotune.winograd_filter %u outputs 2 : tensor<2x36x8x8xf32> -> tensor<2x1x3x3x8x8xf32>
  return %w : tensor<2x1x3x3x8x8xf32>
}

// -----

func.func @main(%u: tensor<2x36x8x8xf32>) -> tensor<2x1x3x3x8x8xf32> {
  // expected-error @below {{has tiles of 3 outputs, expected 2 or 4}}
  %w = autotune.winograd_filter %u outputs 3 : tensor<2x36x8x8xf32> -> tensor<2x1x3x3x8x8xf32>
  return %w : tensor<2x1x3x3x8x8xf32>
}
