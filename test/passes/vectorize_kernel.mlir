// RUN: autotune-opt %S/Inputs/matmul_kernel.mlir --autotune-tile-kernel="tiles=0:4,1:8 reductions=2:1" --autotune-vectorize-kernel | FileCheck %s --check-prefix=MATMUL
// RUN: autotune-opt %s --autotune-tile-kernel="tiles=0:1,1:1,3:1,2:4 reductions=5:1,6:1,7:1,8:1" --autotune-vectorize-kernel | FileCheck %s

// The accumulator is carried by the reduction loop as a vector; the loop reads inputs only and writes nothing.
// MATMUL-LABEL: func.func @kernel
// MATMUL: %[[TILE:.+]] = scf.for {{.*}} iter_args(%[[ACC:.+]] = %{{.*}}) -> (vector<4x8xf32>)
// MATMUL-NOT: vector.transfer_write
// MATMUL-NOT: tensor<4x8xf32>
// MATMUL: scf.yield %{{.*}} : vector<4x8xf32>
// MATMUL: vector.transfer_write %[[TILE]], %{{.*}} : vector<4x8xf32>, tensor<4x8xf32>

// A convolution in blocks of eight channels with a stride of two: the window is read through a strided slice, the
// four loops of the reduction carry one vector, and the write goes to the interior of a padded buffer.
#in = affine_map<(n, h, w, o, v, i, kh, kw, c) -> (n, i, h * 2 + kh, w * 2 + kw, c)>
#weights = affine_map<(n, h, w, o, v, i, kh, kw, c) -> (o, i, kh, kw, c, v)>
#out = affine_map<(n, h, w, o, v, i, kh, kw, c) -> (n, o, h, w, v)>
// CHECK-LABEL: func.func @conv
// CHECK-SAME: (%[[X:.+]]: tensor<1x2x17x17x8xf32>, %[[W:.+]]: tensor<2x2x3x3x8x8xf32>, %[[DEST:.+]]: tensor<1x2x10x10x8xf32>
// CHECK-NOT: linalg.generic
// CHECK: scf.for {{.*}} -> (vector<4x8xf32>)
// CHECK: scf.for {{.*}} -> (vector<4x8xf32>)
// CHECK: scf.for {{.*}} -> (vector<4x8xf32>)
// CHECK: scf.for {{.*}} -> (vector<4x8xf32>)
// CHECK-NOT: vector.transfer_write
// CHECK: tensor.extract_slice %[[X]]{{.*}} [1, 1, 1, 4, 1] [1, 1, 1, 2, 1] : tensor<1x2x17x17x8xf32> to tensor<4xf32>
// CHECK-NOT: vector.transfer_write
// CHECK: scf.yield %{{.*}} : vector<4x8xf32>
// CHECK: vector.transfer_write %{{.*}} : vector<4x8xf32>, tensor<1x1x1x4x8xf32>
// CHECK: tensor.insert_slice %{{.*}} into %[[DEST]][0, 0, 1, 1, 0] [1, 2, 8, 8, 8] [1, 1, 1, 1, 1]
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @conv(%x: tensor<1x2x17x17x8xf32>, %w: tensor<2x2x3x3x8x8xf32>, %dest: tensor<1x2x10x10x8xf32>) -> tensor<1x2x10x10x8xf32> {
  %zero = arith.constant 0.0 : f32
  %part = tensor.extract_slice %dest[0, 0, 1, 1, 0] [1, 2, 8, 8, 8] [1, 1, 1, 1, 1] : tensor<1x2x10x10x8xf32> to tensor<1x2x8x8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%part : tensor<1x2x8x8x8xf32>) -> tensor<1x2x8x8x8xf32>
  %y = linalg.generic {indexing_maps = [#in, #weights, #out],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]}
         ins(%x, %w : tensor<1x2x17x17x8xf32>, tensor<2x2x3x3x8x8xf32>) outs(%f : tensor<1x2x8x8x8xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x2x8x8x8xf32>
  %r = tensor.insert_slice %y into %dest[0, 0, 1, 1, 0] [1, 2, 8, 8, 8] [1, 1, 1, 1, 1] : tensor<1x2x8x8x8xf32> into tensor<1x2x10x10x8xf32>
  return %r : tensor<1x2x10x10x8xf32>
}
