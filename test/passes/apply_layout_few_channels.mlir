// Elementwise ops on an image of a few channels stay plain until the first convolution.
// RUN: autotune-opt %s --autotune-extract-graph --autotune-apply-layout=block=8 | FileCheck %s

#id = affine_map<(n, c, h, w) -> (n, c, h, w)>
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.+]]: tensor<1x1x8x8xf32>)
func.func @main(%x: tensor<1x1x8x8xf32>) -> tensor<1x8x6x6xf32> {
  %w = arith.constant dense<1.0> : tensor<8x1x3x3xf32>
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : f32
  %d = tensor.empty() : tensor<1x1x8x8xf32>
  // CHECK: %[[S:.+]] = linalg.generic
  // CHECK-SAME: ins(%[[X]] : tensor<1x1x8x8xf32>) outs(%{{.*}} : tensor<1x1x8x8xf32>)
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
         ins(%x : tensor<1x1x8x8xf32>) outs(%d : tensor<1x1x8x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %v = arith.mulf %a, %two : f32
    linalg.yield %v : f32
  } -> tensor<1x1x8x8xf32>
  %e = tensor.empty() : tensor<1x8x6x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  // CHECK: linalg.generic
  // CHECK-SAME: ins(%[[S]], %{{.*}} : tensor<1x1x8x8xf32>, tensor<1x1x3x3x8xf32>) outs(%{{.*}} : tensor<1x1x6x6x8xf32>)
  %y = linalg.conv_2d_nchw_fchw ins(%s, %w : tensor<1x1x8x8xf32>, tensor<8x1x3x3xf32>)
         outs(%f : tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  return %y : tensor<1x8x6x6xf32>
}
