// A copy folds into what it reads; the destination must be written all the same.
// RUN: autotune-opt %s --autotune-tile-kernel --autotune-vectorize-kernel --autotune-lower-kernel | FileCheck %s

// CHECK: llvm.func internal @kernel_body(%[[X:.+]]: !llvm.ptr {llvm.noalias}, %[[DEST:.+]]: !llvm.ptr {llvm.noalias},
// CHECK-NOT: llvm.alloca
// CHECK: %[[FROM:.+]] = llvm.getelementptr %[[X]]
// CHECK: %[[VALUE:.+]] = llvm.load %[[FROM]]
// CHECK: %[[TO:.+]] = llvm.getelementptr %[[DEST]]
// CHECK: llvm.store %[[VALUE]], %[[TO]]
// CHECK-NOT: llvm.alloca
#map = affine_map<(m, n) -> (m, n)>
func.func @kernel(%x: tensor<2x16xf32>, %dest: tensor<2x10xf32>) -> tensor<2x10xf32> {
  %part = tensor.extract_slice %x[0, 0] [2, 10] [1, 1] : tensor<2x16xf32> to tensor<2x10xf32>
  %y = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
         ins(%part : tensor<2x10xf32>) outs(%dest : tensor<2x10xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  } -> tensor<2x10xf32>
  return %y : tensor<2x10xf32>
}
