// RUN: autotune-opt %s --autotune-tile-kernel="tiles=0:4,1:8 reductions=2:2" -split-input-file | FileCheck %s --check-prefix=EVEN
// RUN: autotune-opt %s --autotune-tile-kernel="tiles=0:6,1:16 reductions=2:1" --canonicalize --cse | FileCheck %s --check-prefix=UNEVEN
// RUN: autotune-opt %s --autotune-tile-kernel="tiles=0:3,1:8 reductions=2:1 parallel=true" --canonicalize --cse | FileCheck %s --check-prefix=CHUNKS
// RUN: autotune-opt %s --autotune-tile-kernel="tiles=0:16,1:8,0:4 reductions=2:4" --canonicalize --cse | FileCheck %s --check-prefix=BLOCKED

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#map = affine_map<(m, n) -> (m, n)>

// Steps that divide: every loop once, the reduction unrolled by two, and the tail fused into the register tile.
// EVEN-LABEL: func.func @matmul
// EVEN-SAME: %[[DEST:[^ :]+]]: tensor<16x24xf32>, %[[BEGIN:.+]]: index, %[[END:.+]]: index)
// EVEN: scf.for {{.*}} iter_args(%{{.*}} = %[[DEST]]) -> (tensor<16x24xf32>)
// EVEN: scf.for {{.*}} -> (tensor<16x24xf32>)
// EVEN: linalg.fill {{.*}} -> tensor<4x8xf32>
// EVEN: scf.for {{.*}} -> (tensor<4x8xf32>)
// EVEN: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x1xf32>, tensor<1x8xf32>) outs(%{{.*}} : tensor<4x8xf32>)
// EVEN: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x1xf32>, tensor<1x8xf32>) outs(%{{.*}} : tensor<4x8xf32>)
// EVEN: scf.yield
// EVEN: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
// EVEN-SAME: tensor<4x8xf32>
// EVEN-NOT: scf.for
// EVEN: return

// 16 = 2 * 6 + 4 and 24 = 16 + 8: four static tiles and no dynamic size.
// UNEVEN-LABEL: func.func @matmul
// UNEVEN-NOT: tensor<?
// UNEVEN-DAG: tensor<6x1xf32>, tensor<1x16xf32>
// UNEVEN-DAG: tensor<6x1xf32>, tensor<1x8xf32>
// UNEVEN-DAG: tensor<4x1xf32>, tensor<1x16xf32>
// UNEVEN-DAG: tensor<4x1xf32>, tensor<1x8xf32>
// UNEVEN-NOT: tensor<?
// UNEVEN: return

// 16 rows in chunks of 3: five whole ones in a loop over [begin, min(end, 5)), the sixth, of one row, in
// a loop over [max(begin, 5), end): a branch would keep bufferisation from writing the result in place.
// CHUNKS-LABEL: func.func @matmul
// CHUNKS-SAME: %[[DEST:[^ :]+]]: tensor<16x24xf32>, %[[BEGIN:.+]]: index, %[[END:.+]]: index)
// CHUNKS-DAG: %[[WHOLE:.+]] = arith.constant 5 : index
// CHUNKS-DAG: %[[STEP:.+]] = arith.constant 1 : index
// CHUNKS: %[[STOP:.+]] = arith.minsi %[[END]], %[[WHOLE]]
// CHUNKS: %[[DONE:.+]] = scf.for %{{.*}} = %[[BEGIN]] to %[[STOP]] step %[[STEP]] iter_args(%{{.*}} = %[[DEST]])
// CHUNKS: tensor<3x1xf32>, tensor<1x8xf32>
// CHUNKS: %[[FIRST:.+]] = arith.maxsi %[[BEGIN]], %[[WHOLE]]
// CHUNKS: scf.for %{{.*}} = %[[FIRST]] to %[[END]] step %[[STEP]] iter_args(%{{.*}} = %[[DONE]])
// CHUNKS: tensor<1x8xf32>) outs(%{{.*}} : tensor<1x8xf32>)
// CHUNKS-NOT: tensor<?

// A loop of the whole extent is none: the cache block of 16 rows is all there are.
// BLOCKED-LABEL: func.func @matmul
// BLOCKED: scf.for {{.*}} -> (tensor<16x24xf32>)
// BLOCKED-NEXT: scf.for {{.*}} -> (tensor<16x24xf32>)
// BLOCKED-COUNT-4: tensor<4x1xf32>, tensor<1x8xf32>
// BLOCKED-NOT: tensor<4x1xf32>, tensor<1x8xf32>
func.func @matmul(%a: tensor<16x8xf32>, %b: tensor<8x24xf32>, %dest: tensor<16x24xf32>) -> tensor<16x24xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x24xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x24xf32>) -> tensor<16x24xf32>
  %y = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
         ins(%a, %b : tensor<16x8xf32>, tensor<8x24xf32>) outs(%f : tensor<16x24xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<16x24xf32>
  %z = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
         ins(%y : tensor<16x24xf32>) outs(%dest : tensor<16x24xf32>) {
  ^bb0(%p: f32, %o: f32):
    %m = arith.maximumf %p, %zero : f32
    linalg.yield %m : f32
  } -> tensor<16x24xf32>
  return %z : tensor<16x24xf32>
}
