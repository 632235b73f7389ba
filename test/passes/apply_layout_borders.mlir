// First layers, channels that are no multiple of the block, and where conversions stand.
// RUN: autotune-opt %s --autotune-extract-graph --autotune-apply-layout=block=8 -split-input-file | FileCheck %s

// An image of three channels is read plain, padding included: blocks of it would be mostly zeros.
// CHECK-DAG: #[[$IN:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d5, d1 * 2 + d6, d2 * 2 + d7)>
// CHECK-DAG: #[[$W:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d3, d5, d6, d7, d4)>
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.+]]: tensor<1x3x8x8xf32>)
func.func @main(%x: tensor<1x3x8x8xf32>) -> tensor<1x8x4x4xf32> {
  %w = arith.constant dense<1.0> : tensor<8x3x3x3xf32>
  %zero = arith.constant 0.0 : f32
  // CHECK: %[[PAD:.+]] = tensor.pad %[[X]]
  // CHECK: tensor<1x3x8x8xf32> to tensor<1x3x10x10xf32>
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%n: index, %c: index, %i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<1x3x8x8xf32> to tensor<1x3x10x10xf32>
  %e = tensor.empty() : tensor<1x8x4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  // CHECK: linalg.generic {indexing_maps = [#[[$IN]], #[[$W]],
  // CHECK-SAME: ins(%[[PAD]], %{{.*}} : tensor<1x3x10x10xf32>, tensor<1x3x3x3x8xf32>) outs(%{{.*}} : tensor<1x1x4x4x8xf32>)
  %y = linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>}
         ins(%p, %w : tensor<1x3x10x10xf32>, tensor<8x3x3x3xf32>)
         outs(%f : tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return %y : tensor<1x8x4x4xf32>
}

// -----

// Ten channels become two blocks: the input and the weights are padded with zeros, the result is cut.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.+]]: tensor<1x10x4x4xf32>)
func.func @main(%x: tensor<1x10x4x4xf32>) -> tensor<1x3x4x4xf32> {
  %w = arith.constant dense<1.0> : tensor<3x10x1x1xf32>
  %zero = arith.constant 0.0 : f32
  // CHECK: %[[WIDE:.+]] = tensor.pad %[[X]] low[0, 0, 0, 0] high[0, 6, 0, 0]
  // CHECK: tensor.yield %{{.*}} : f32
  // CHECK: tensor.expand_shape %[[WIDE]]
  // CHECK-SAME: tensor<1x16x4x4xf32> into tensor<1x2x8x4x4xf32>
  %e = tensor.empty() : tensor<1x3x4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  // Ones of three outputs, then the zeros of five: 0x3F800000 is 1.0.
  // CHECK: arith.constant dense<"0x0000803F0000803F0000803F0000000000000000000000000000000000000000{{.*}}"> : tensor<1x2x1x1x8x8xf32>
  // CHECK: linalg.generic
  // CHECK-SAME: tensor<1x2x4x4x8xf32>, tensor<1x2x1x1x8x8xf32>) outs(%{{.*}} : tensor<1x1x4x4x8xf32>)
  %y = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x10x4x4xf32>, tensor<3x10x1x1xf32>)
         outs(%f : tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  // CHECK: tensor.collapse_shape
  // CHECK-SAME: into tensor<1x8x4x4xf32>
  // CHECK: %[[CUT:.+]] = tensor.extract_slice %{{.*}}[0, 0, 0, 0] [1, 3, 4, 4] [1, 1, 1, 1]
  // CHECK: return %[[CUT]]
  return %y : tensor<1x3x4x4xf32>
}

// -----

// A value with a plain and two blocked readers: one conversion out, none between the blocked operators.
#map = affine_map<(n, c, h, w) -> (n, c, h, w)>
#map2 = affine_map<(n, c) -> (n, c)>
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<1x8x4x4xf32>) -> (tensor<1x8x4x4xf32>, tensor<1x128xf32>) {
  %w = arith.constant dense<1.0> : tensor<8x8x1x1xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x8x4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  // CHECK: %[[CONV0:.+]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<1x1x4x4x8xf32>) attrs = {autotune.id = 0
  %y = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>)
         outs(%f : tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  // CHECK: linalg.generic {{.*}} ins(%[[CONV0]] : tensor<1x1x4x4x8xf32>) outs(%{{.*}} : tensor<1x1x8x4x4xf32>)
  // CHECK-NOT: autotune
  // CHECK: %[[PLAIN:.+]] = tensor.collapse_shape
  // CHECK: %[[CONV1:.+]] = linalg.generic {{.*}} ins(%[[CONV0]], %{{.*}} : tensor<1x1x4x4x8xf32>, {{.*}} attrs = {autotune.id = 1
  %z = linalg.conv_2d_nchw_fchw ins(%y, %w : tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>)
         outs(%f : tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  // CHECK: linalg.generic {{.*}} ins(%[[CONV0]], %[[CONV1]] : {{.*}} attrs = {autotune.id = 2
  %s = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
         ins(%y, %z : tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>) outs(%e : tensor<1x8x4x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.addf %p, %q : f32
    linalg.yield %t : f32
  } -> tensor<1x8x4x4xf32>
  // CHECK: tensor.collapse_shape %[[PLAIN]]
  %flat = tensor.collapse_shape %y [[0], [1, 2, 3]] : tensor<1x8x4x4xf32> into tensor<1x128xf32>
  return %s, %flat : tensor<1x8x4x4xf32>, tensor<1x128xf32>
}
