// RUN: autotune-opt %s --autotune-extract-graph --autotune-apply-layout=block=8 -split-input-file | FileCheck %s

// A chain of a convolution, a depthwise one, pooling, arithmetic and the mean over space stays blocked from end to end:
// one conversion in, none in between, none out where the plain shape is a reshape of the blocked one.

#map = affine_map<(n, c, h, w) -> (n, c, h, w)>
#bias = affine_map<(n, c, h, w) -> (c)>
#kept = affine_map<(n, c, h, w) -> (n, c)>

// CHECK-DAG: #[[$CONV_IN:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8) -> (d0, d5, d1 + d6, d2 + d7, d8)>
// CHECK-DAG: #[[$CONV_W:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8) -> (d3, d5, d6, d7, d8, d4)>
// CHECK-DAG: #[[$CONV_OUT:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8) -> (d0, d3, d1, d2, d4)>
// CHECK-DAG: #[[$WINDOW:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2 * 2 + d5, d3 * 2 + d6, d4)>
// CHECK-DAG: #[[$WINDOW1:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2 + d5, d3 + d6, d4)>
// CHECK-DAG: #[[$KERNEL:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d5, d6, d4)>
// CHECK-DAG: #[[$CHANNELS:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d4)>
// CHECK-DAG: #[[$MEAN_OUT:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.+]]: tensor<1x16x9x9xf32>)
func.func @main(%x: tensor<1x16x9x9xf32>) -> tensor<1x16xf32> {
  %w = arith.constant dense<1.0> : tensor<16x16x3x3xf32>
  %d = arith.constant dense<1.0> : tensor<16x3x3xf32>
  %b = arith.constant dense<[0., 1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11., 12., 13., 14., 15.]> : tensor<16xf32>
  %window = tensor.empty() : tensor<3x3xf32>
  %zero = arith.constant 0.0 : f32
  // CHECK: %[[WIDE:.+]] = tensor.expand_shape %[[X]] {{.*}} into tensor<1x2x8x9x9xf32>
  // CHECK: %[[BLOCKED:.+]] = linalg.generic {{.*}} ins(%[[WIDE]] : tensor<1x2x8x9x9xf32>) outs({{.*}} : tensor<1x2x9x9x8xf32>)
  // CHECK-NOT: autotune.subgraph
  // CHECK: } -> tensor<1x2x9x9x8xf32>
  %e0 = tensor.empty() : tensor<1x16x7x7xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<1x16x7x7xf32>) -> tensor<1x16x7x7xf32>
  // CHECK: %[[CONV:.+]] = linalg.generic {indexing_maps = [#[[$CONV_IN]], #[[$CONV_W]], #[[$CONV_OUT]]]
  // CHECK-SAME: iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]
  // CHECK-SAME: ins(%[[BLOCKED]], %{{.*}} : tensor<1x2x9x9x8xf32>, tensor<2x2x3x3x8x8xf32>) outs(%{{.*}} : tensor<1x2x7x7x8xf32>)
  // CHECK-SAME: autotune.subgraph = 0 : i64
  %conv = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x16x9x9xf32>, tensor<16x16x3x3xf32>)
            outs(%f0 : tensor<1x16x7x7xf32>) -> tensor<1x16x7x7xf32>
  // CHECK: %[[ADD:.+]] = linalg.generic
  // CHECK-SAME: #[[$CHANNELS]]
  // CHECK-SAME: ins(%[[CONV]], %{{.*}} : tensor<1x2x7x7x8xf32>, tensor<2x8xf32>)
  %add = linalg.generic {indexing_maps = [#map, #bias, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
           ins(%conv, %b : tensor<1x16x7x7xf32>, tensor<16xf32>) outs(%e0 : tensor<1x16x7x7xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<1x16x7x7xf32>
  %e1 = tensor.empty() : tensor<1x16x5x5xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x16x5x5xf32>) -> tensor<1x16x5x5xf32>
  // CHECK: %[[DEPTHWISE:.+]] = linalg.generic {indexing_maps = [#[[$WINDOW1]], #[[$KERNEL]], #{{.+}}]
  // CHECK-SAME: ins(%[[ADD]], %{{.*}} : tensor<1x2x7x7x8xf32>, tensor<2x3x3x8xf32>) outs(%{{.*}} : tensor<1x2x5x5x8xf32>)
  %dw = linalg.depthwise_conv_2d_nchw_chw ins(%add, %d : tensor<1x16x7x7xf32>, tensor<16x3x3xf32>)
          outs(%f1 : tensor<1x16x5x5xf32>) -> tensor<1x16x5x5xf32>
  %e2 = tensor.empty() : tensor<1x16x2x2xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1x16x2x2xf32>) -> tensor<1x16x2x2xf32>
  // CHECK: %[[POOL:.+]] = linalg.generic {indexing_maps = [#[[$WINDOW]],
  // CHECK-SAME: ins(%[[DEPTHWISE]], %{{.*}} : tensor<1x2x5x5x8xf32>, tensor<3x3xf32>) outs(%{{.*}} : tensor<1x2x2x2x8xf32>)
  // CHECK: arith.maximumf
  %pool = linalg.pooling_nchw_max {strides = dense<2> : tensor<2xi64>}
            ins(%dw, %window : tensor<1x16x5x5xf32>, tensor<3x3xf32>) outs(%f2 : tensor<1x16x2x2xf32>) -> tensor<1x16x2x2xf32>
  %e3 = tensor.empty() : tensor<1x16xf32>
  %f3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<1x16xf32>) -> tensor<1x16xf32>
  // CHECK: %[[MEAN:.+]] = linalg.generic {indexing_maps = [#{{.+}}, #[[$MEAN_OUT]]], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
  // CHECK-SAME: ins(%[[POOL]] : tensor<1x2x2x2x8xf32>) outs(%{{.*}} : tensor<1x2x8xf32>)
  %mean = linalg.generic {indexing_maps = [#map, #kept], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
            ins(%pool : tensor<1x16x2x2xf32>) outs(%f3 : tensor<1x16xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.addf %p, %o : f32
    linalg.yield %s : f32
  } -> tensor<1x16xf32>
  // CHECK: %[[OUT:.+]] = tensor.collapse_shape %[[MEAN]] {{.*}} : tensor<1x2x8xf32> into tensor<1x16xf32>
  // CHECK: return %[[OUT]]
  return %mean : tensor<1x16xf32>
}
