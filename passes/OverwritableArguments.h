// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which inputs of a kernel may live in the buffer that it writes.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SmallVector.h"

namespace autotune {

/// On an argument of a kernel: its buffer may be that of the destination, so nothing is promised to LLVM.
inline constexpr llvm::StringLiteral kOverwritableAttr = "autotune.overwritable";

/// Indices of the inputs of an outlined `kernel` of which it reads each element just before it writes the
/// same element of its destination, and never again: those of a single elementwise op, of the destination's
/// type and read in its order, in the same place where both are parts of larger buffers. Whatever tiles,
/// chunks and threads the loops are cut into, such an input may share its buffer with the destination. Empty
/// for all other kernels: with a second op, or with a reduction, the destination may hold partial results
/// before an input is read.
llvm::SmallVector<unsigned> overwritableArguments(mlir::func::FuncOp kernel);

/// Puts the attribute on them.
void markOverwritableArguments(mlir::func::FuncOp kernel);

} // namespace autotune
