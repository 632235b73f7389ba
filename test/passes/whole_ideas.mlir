// RUN: autotune-opt %s --split-input-file --autotune-tile-kernel="tiles=0:1 reductions=1:32" | FileCheck %s --check-prefix=ROWS
// RUN: autotune-opt %s --split-input-file --autotune-tile-kernel="tiles=0:1 reductions=1:32" --autotune-lower-kernel | FileCheck %s --check-prefix=LLVM
// RUN: autotune-opt %S/Inputs/attention_kernel.mlir --autotune-tile-kernel="tiles=0:1,1:1,2:16,3:6 reductions=4:64,5:1 parallel=true" --canonicalize | FileCheck %s --check-prefix=TILE
// RUN: autotune-opt %S/Inputs/attention_kernel.mlir --autotune-tile-kernel="tiles=0:1,1:1,2:16,3:6 reductions=4:64,5:1 parallel=true" --autotune-lower-kernel | FileCheck %s --check-prefix=LLVM

// Three passes over a row of 70 = 2 * 32 + 4 + 2; sums and maxima are carried in vectors.
// ROWS-LABEL: func @softmax
// ROWS: scf.for {{.*}} iter_args({{.*}}) -> (tensor<3x70xf32>)
// ROWS: scf.for {{.*}} -> (vector<32xf32>, tensor<3x70xf32>)
// ROWS: arith.maximumf {{.*}} : vector<32xf32>
// ROWS: vector.reduction <maximumf>
// ROWS: vector<4xf32>
// ROWS: vector<2xf32>
// ROWS: scf.for {{.*}} -> (vector<32xf32>, tensor<3x70xf32>)
// ROWS: math.exp {{.*}} : vector<32xf32>
// ROWS: vector.reduction <add>
// ROWS: scf.for {{.*}} -> (tensor<3x70xf32>)
// ROWS: arith.mulf {{.*}} : vector<32xf32>
func.func @softmax(%x: tensor<3x70xf32>, %dest: tensor<3x70xf32>) -> tensor<3x70xf32> {
  %e = tensor.empty() : tensor<3x70xf32>
  %y = linalg.softmax dimension(1) ins(%x : tensor<3x70xf32>) outs(%e : tensor<3x70xf32>) -> tensor<3x70xf32>
  return %y : tensor<3x70xf32>
}

// -----

// ROWS-LABEL: func @layer_norm
// ROWS-COUNT-3: scf.for {{.*}} = %c0{{.*}} to %c64{{.*}} step %c32
func.func @layer_norm(%x: tensor<3x64xf32>, %s: tensor<64xf32>, %dest: tensor<3x64xf32>) -> tensor<3x64xf32> {
  %y = autotune.layer_norm %x scale(%s : tensor<64xf32>) axes [1] epsilon 1.0e-5 : tensor<3x64xf32>
  return %y : tensor<3x64xf32>
}

// The products of a tile of six keys, then of six elements of values, stay in registers; scores exist for 64 columns of
// 16 rows.
// TILE-LABEL: func @attention
// TILE-DAG: memref.alloc() {{.*}} : memref<8x16xf32>
// TILE-DAG: memref.alloc() {{.*}} : memref<64x16xf32>
// TILE-DAG: memref.alloc() {{.*}} : memref<12x16xf32>
// TILE: vector.shuffle
// TILE: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// TILE-COUNT-6: vector.fma
// TILE: math.exp
// TILE: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// TILE-COUNT-6: vector.fma
// TILE: vector.transfer_write

// LLVM: llvm.func internal @kernel_body
// LLVM-NOT: llvm.call @
// LLVM: llvm.func @kernel(
