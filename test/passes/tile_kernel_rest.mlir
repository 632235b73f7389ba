// RUN: autotune-opt %s --autotune-tile-kernel="tiles=0:4,1:16 reductions=2:1" --canonicalize --cse | FileCheck %s

// 28 columns in steps of 16: what is left, 12, is no power of two of vectors and becomes 8 and 4.
// CHECK-LABEL: func.func @matmul
// CHECK-NOT: tensor<1x12xf32>
// CHECK-DAG: tensor<4x1xf32>, tensor<1x16xf32>
// CHECK-DAG: tensor<4x1xf32>, tensor<1x8xf32>
// CHECK-DAG: tensor<4x1xf32>, tensor<1x4xf32>
// CHECK-NOT: tensor<1x12xf32>
// CHECK: return
func.func @matmul(%x: tensor<4x5xf32>, %y: tensor<5x28xf32>, %dest: tensor<4x28xf32>) -> tensor<4x28xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%dest : tensor<4x28xf32>) -> tensor<4x28xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
      affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<4x5xf32>, tensor<5x28xf32>) outs(%f : tensor<4x28xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x28xf32>
  return %r : tensor<4x28xf32>
}
