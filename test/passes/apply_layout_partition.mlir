// A partition from a file: the product and its tail are one subgraph, and the tail runs on the product's panels.
// RUN: autotune-opt %s --autotune-extract-graph --autotune-apply-layout=partition=%S/Inputs/panel_tail.yaml | FileCheck %s

#map = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (n)>
// CHECK-LABEL: func.func @main
func.func @main(%a: tensor<4x6xf32>) -> tensor<4x32xf32> {
  %w = arith.constant dense<1.0> : tensor<6x32xf32>
  %bias = arith.constant dense<2.0> : tensor<32xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x32xf32>) -> tensor<4x32xf32>
  // CHECK: %[[P:.+]] = linalg.generic
  // CHECK-SAME: outs(%{{.*}} : tensor<4x2x16xf32>) attrs = {autotune.id = 0 : i64, autotune.subgraph = 0 : i64}
  %y = linalg.matmul ins(%a, %w : tensor<4x6xf32>, tensor<6x32xf32>) outs(%f : tensor<4x32xf32>) -> tensor<4x32xf32>
  // CHECK: %[[T:.+]] = linalg.generic
  // CHECK-SAME: ins(%[[P]], %{{.*}} : tensor<4x2x16xf32>, tensor<2x16xf32>)
  // CHECK-SAME: attrs = {autotune.id = 1 : i64, autotune.subgraph = 0 : i64}
  %z = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]}
         ins(%y, %bias : tensor<4x32xf32>, tensor<32xf32>) outs(%e : tensor<4x32xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.addf %p, %q : f32
    linalg.yield %t : f32
  } -> tensor<4x32xf32>
  // CHECK: tensor.collapse_shape %[[T]]
  // CHECK-NEXT: return
  return %z : tensor<4x32xf32>
}
