// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ideas that no kernel takes whole, in linalg.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace autotune {

/// Replaces each op that stands for an idea (dialect/Decompose.h) by linalg ops, unless a kernel takes it
/// whole or when `all` of them are wanted. An idea that cannot be written so is an error.
mlir::LogicalResult decomposeIdeas(mlir::func::FuncOp function, bool all = false);

} // namespace autotune
