// RUN: autotune-opt %s --autotune-tile-kernel="tiles=0:2,0:1 parallel=true" --autotune-vectorize-kernel | FileCheck %s -enable-var-scope

// The smaller last chunk has one place in the destination, but it stays inside its loop: a thread that runs no step of
// it must not touch what another thread writes.
// CHECK-LABEL: func.func @kernel
// CHECK-SAME: %[[DEST:[a-z0-9]+]]: tensor<5x8xf32>, %{{[a-z0-9]+}}: index, %[[END:[a-z0-9]+]]: index
// CHECK: %[[WHOLE:.+]] = scf.for
// CHECK: scf.for %{{.+}} = %{{.+}} to %[[END]] step %{{.+}} iter_args(%[[PART:.+]] = %[[WHOLE]]) -> (tensor<5x8xf32>)
// CHECK: vector.transfer_write %{{.+}}, %[[PART]]
#row = affine_map<(m, n) -> (m, n)>
func.func @kernel(%x: tensor<5x8xf32>, %dest: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %y = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]}
         ins(%x : tensor<5x8xf32>) outs(%dest : tensor<5x8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.addf %p, %p : f32
    linalg.yield %s : f32
  } -> tensor<5x8xf32>
  return %y : tensor<5x8xf32>
}
