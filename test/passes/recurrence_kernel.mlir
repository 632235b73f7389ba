// RUN: autotune-opt %s --autotune-tile-kernel="tiles=2:16,1:2 reductions=3:1,4:32,5:1" --canonicalize | FileCheck %s
// RUN: autotune-opt %s --autotune-tile-kernel="tiles=2:16,1:2 reductions=3:1,4:16,5:1" --canonicalize | FileCheck %s --check-prefix=BLOCKS
// RUN: autotune-opt %s --autotune-tile-kernel="tiles=2:16,1:2 reductions=3:1,4:16,5:1" --autotune-lower-kernel | FileCheck %s --check-prefix=LLVM

// Loops over steps, units, rows; the four gates of two blocks of units and two rows are summed in registers, and only
// states are stored.
// CHECK-LABEL: func @lstm
// CHECK-DAG: memref.alloc() {{.*}} : memref<2x6x32xf32>
// CHECK: scf.for {{.*}} = %c0{{.*}} to %c100{{.*}} -> (tensor<100x1x6x32xf32>, index, index)
// CHECK: scf.for {{.*}} to %c4{{.*}} step %c2
// CHECK: scf.for {{.*}} to %c6{{.*}} step %c2
// CHECK: scf.for {{.*}} to %c32
// CHECK-COUNT-2: vector.broadcast
// CHECK-COUNT-16: vector.fma {{.*}} : vector<8xf32>
// CHECK: math.exp
// CHECK: math.tanh
// CHECK: vector.transfer_write

// Sums wait in memory while the other rows are multiplied with a block of the state.
// BLOCKS-DAG: memref.alloc() {{.*}} : memref<6x16x8xf32>
// BLOCKS: scf.for {{.*}} to %c32{{.*}} step %c16
// BLOCKS: scf.for {{.*}} to %c6{{.*}} step %c2
// BLOCKS: vector.load {{.*}} : memref<6x16x8xf32>
// BLOCKS: vector.fma
// BLOCKS: vector.store {{.*}} : memref<6x16x8xf32>

// LLVM: llvm.func internal @kernel_body
// LLVM-NOT: llvm.call @
// LLVM: llvm.func @kernel(
func.func @lstm(%x: tensor<100x6x1x128xf32>, %r: tensor<1x4x32x4x8xf32>, %dest: tensor<100x1x6x32xf32>)
    -> tensor<100x1x6x32xf32> {
  %y = autotune.recurrence lstm %x, %r activations ["sigmoid", "tanh", "tanh"]
     : tensor<100x6x1x128xf32>, tensor<1x4x32x4x8xf32> -> tensor<100x1x6x32xf32>
  return %y : tensor<100x1x6x32xf32>
}
