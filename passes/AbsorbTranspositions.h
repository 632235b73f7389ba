// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention reads and writes heads where they are.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace autotune {

/// Transpositions before and after each attention that is taken whole become its orders of axes, as far as
/// its kernel can read and write along vectors then.
void absorbTranspositions(mlir::func::FuncOp function);

} // namespace autotune
