// RUN: autotune-opt %s --autotune-tile-kernel="tiles=0:4,1:8" -split-input-file -verify-diagnostics
// RUN: not autotune-opt %S/Inputs/matmul_kernel.mlir --autotune-tile-kernel="tiles=2:4" 2>&1 | FileCheck %s --check-prefix=REDUCTION-DIM
// RUN: not autotune-opt %S/Inputs/matmul_kernel.mlir --autotune-tile-kernel="tiles=-1:4" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not autotune-opt %S/Inputs/matmul_kernel.mlir --autotune-tile-kernel="tiles=0:0" 2>&1 | FileCheck %s --check-prefix=STEP
// RUN: not autotune-opt %S/Inputs/matmul_kernel.mlir --autotune-tile-kernel="tiles=0:4 reductions=1:1" 2>&1 | FileCheck %s --check-prefix=PARALLEL-DIM
// RUN: not autotune-opt %S/Inputs/matmul_kernel.mlir --autotune-tile-kernel="tiles=0:4 reductions=2:1,2:1" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not autotune-opt %S/Inputs/matmul_kernel.mlir --autotune-tile-kernel="reductions=2:0" 2>&1 | FileCheck %s --check-prefix=UNROLL
// RUN: not autotune-opt %S/Inputs/matmul_kernel.mlir --autotune-tile-kernel="parallel=true" 2>&1 | FileCheck %s --check-prefix=CHUNKS
// RUN: not autotune-opt %S/Inputs/matmul_kernel.mlir --autotune-tile-kernel="tiles=0" 2>&1 | FileCheck %s --check-prefix=PAIR

// REDUCTION-DIM: error: expected tile loops over dims 0 to 1, found dim 2
// NEGATIVE: error: expected tile loops over dims 0 to 1, found dim -1
// STEP: error: expected a positive step over dim 0, found 0
// PARALLEL-DIM: error: expected reduction loops over reduction dims, found dim 1
// TWICE: error: expected each reduction dim once, found dim 2 twice
// UNROLL: error: expected a positive unroll over dim 2, found 0
// CHUNKS: error: expected a first loop to cut into chunks, found none
// PAIR: error: expected tiles as DIM:STEP, found '0'

// expected-error @+1 {{expected tile loops over dims 0 to 0, found dim 1}}
func.func @one_dim(%x: tensor<16xf32>, %dest: tensor<16xf32>) -> tensor<16xf32> {
  %y = linalg.exp ins(%x : tensor<16xf32>) outs(%dest : tensor<16xf32>) -> tensor<16xf32>
  return %y : tensor<16xf32>
}

// -----

// expected-error @+1 {{expected the kernel to return the one result of a linalg op}}
func.func @nothing(%dest: tensor<16xf32>) -> tensor<16xf32> {
  return %dest : tensor<16xf32>
}

// -----

// expected-error @+1 {{expected a kernel with one result, found 2}}
func.func @two(%x: tensor<16xf32>, %dest: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %y = linalg.exp ins(%x : tensor<16xf32>) outs(%dest : tensor<16xf32>) -> tensor<16xf32>
  return %y, %y : tensor<16xf32>, tensor<16xf32>
}
