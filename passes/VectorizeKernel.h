// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Turns the register tiles of a kernel into vectors and keeps accumulators out of memory.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace autotune {

/// Vectorises every linalg op of a tiled kernel and hoists loop-invariant reads and writes of tiles, so that
/// accumulators become `vector` iter_args of the reduction loops. An op that the vectoriser refuses, or that has more
/// than 4096 loop steps, stays as it is and becomes scalar loops later.
mlir::LogicalResult vectorizeKernel(mlir::func::FuncOp kernel);

/// Canonicalises, folds slices of empty tensors, removes common subexpressions. Bufferisation needs it: it would take
/// the slice of a whole tile for a copy.
mlir::LogicalResult simplifyKernel(mlir::func::FuncOp kernel);

} // namespace autotune
