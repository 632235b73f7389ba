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
/// - half precision becomes single precision between the model's inputs and outputs (see WidenHalf.h);
/// - named composites (softmax, pack) become their parts, arithmetic on tensors becomes linalg;
/// - dead and duplicate ops go, reshapes of reshapes fold;
/// - an op with several results becomes one op for each result that is used.
mlir::LogicalResult simplifyModel(mlir::func::FuncOp main);

} // namespace autotune
