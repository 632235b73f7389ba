// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Turns @main into a list of kernel calls with explicit destinations.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace autotune {

/// Moves the linalg ops of each subgraph (attribute `autotune.subgraph`), and every other linalg op by itself, into a
/// function `@kernel_<n>(inputs…, dest) -> dest`, called from `main` with a `tensor.empty` as destination:
///
///   %y = linalg.generic … outs(%empty)   ==>   %y = call @kernel_0(%x, %w, %empty)
///
/// Inside a kernel, elementwise tails run over the loops of the root, in its order. Named ops become linalg.generic.
/// Fails with a diagnostic when a subgraph has two roots or a second value that is used outside.
mlir::LogicalResult outlineKernels(mlir::func::FuncOp main);

} // namespace autotune
