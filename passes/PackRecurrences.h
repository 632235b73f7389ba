// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights of recurrences in the order in which they are read.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace autotune {

/// Constant weights of recurrences that are taken whole become blocks of `lanes` units, fewer where there are
/// fewer: the weights that a step reads for its units then stand side by side in memory.
void packRecurrences(mlir::func::FuncOp main, int64_t lanes);

} // namespace autotune
