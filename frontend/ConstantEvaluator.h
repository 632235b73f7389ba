// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Evaluates the ops that a builder emitted for a node whose operands are all known at import.
#pragma once

#include "frontend/NodeContext.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Block.h"

namespace autotune {

/// Replaces the results of `node`, whose ops are in `scratch`, by constants. False when an op is not known to the
/// evaluator or the work is too much for compile time: the node then has to be computed at run time.
bool evaluateResults(NodeContext &node, mlir::Block &scratch);

/// What an imported function returns for these arguments, op by op: slow, but independent of code generation. Nothing
/// when an op is not known to the evaluator. Ideas are put in their pieces on the way.
std::optional<std::vector<ConstantTensor>> evaluateFunction(mlir::func::FuncOp function,
                                                            llvm::ArrayRef<ConstantTensor> arguments);

} // namespace autotune
