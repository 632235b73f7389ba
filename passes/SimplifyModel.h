// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Brings an imported model into the form that partitioning reads.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace autotune {

/// Rewrites `main` before its operators are numbered:
///
/// - the reshape that gives a matrix product its leading dims back moves behind the elementwise ops and row reductions
///   that follow, so that these see the product's own result and can join its kernel:
///     expand(matmul) -> add -> gelu   ==>   expand(matmul -> add -> gelu)
/// - dead and duplicate ops go, reshapes of reshapes fold.
mlir::LogicalResult simplifyModel(mlir::func::FuncOp main);

} // namespace autotune
