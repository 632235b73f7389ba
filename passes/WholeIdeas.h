// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ideas that one kernel computes whole: which, as workloads, and as loops and vectors.
#pragma once

#include "schedule/LoopNest.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace autotune {

/// True for ideas that are not decomposed: recurrences in f32; attention, and softmax and layer normalisation
/// along the last axis, in f32 and long enough to fill vectors.
bool isTakenWhole(mlir::Operation *op);

/// The idea that is all of a kernel; null for kernels of linalg ops.
mlir::Operation *wholeIdea(mlir::func::FuncOp kernel);
/// True if there is an idea in a kernel, whole or with something beside it that makes pieces of it.
bool holdsIdea(mlir::func::FuncOp kernel);

/// Kind, class, loops and arrays of the idea of a kernel; the rest of the workload is the caller's.
///
///     attention   parallel: batch dimensions, rows, width; reductions: columns, depth
///     recurrence  parallel: directions, rows, units; reductions: steps, numbers of the state, gates
///     otherwise   parallel: every axis but the last; reduction: the last
Workload describeIdea(mlir::Operation *idea);

/// Replaces the idea by loops and vectors that store into the kernel's destination, and adds the chunk
/// arguments: what `tileToNest` and `vectorizeKernel` are to other kernels.
///
/// The steps of the reductions are widths here: of the vectors along a row; of the blocks of columns that an
/// attention reads at a time. The innermost step along the rows of an attention is its vector, the one along
/// the width the number of values beside each other in registers. Those along the rows and units of a
/// recurrence are its register tile, inside the loop over the steps.
///
/// Fails with a diagnostic at the kernel when the nest does not fit.
mlir::LogicalResult emitIdea(mlir::func::FuncOp kernel, mlir::Operation *idea, const LoopNest &nest);

/// Writes the idea of a kernel in linalg, and adds the chunk arguments: the reference.
mlir::LogicalResult emitInPieces(mlir::func::FuncOp kernel);

} // namespace autotune
