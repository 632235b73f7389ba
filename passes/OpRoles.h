// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an op of @main is to the partition: its kind, and how it may be fused and laid out.
#pragma once

#include "schedule/Graph.h"
#include "schedule/Workload.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Operation.h"

namespace autotune {

/// Attribute names that carry choices through the pipeline.
inline constexpr llvm::StringLiteral kOperatorIdAttr = "autotune.id";      // i64, from extractGraph
inline constexpr llvm::StringLiteral kSubgraphAttr = "autotune.subgraph";  // i64, from applyPartition

/// True for what the partition decides on: any op of @main with a tensor result, except constants, empty tensors and
/// the fills that initialise a reduction. Of several results at most one is used (see splitResults).
bool isOperator(mlir::Operation *op);
/// The value that an operator makes: its only result, or the one that is used.
mlir::Value operatorResult(mlir::Operation *op);

/// True for what loop nests can be made of: one result, written once at plain positions, and operands that are read at
/// sums of loops. Other linalg ops are correct as plain loops.
bool isTileable(mlir::linalg::LinalgOp op);
/// The value that `op` starts from, where that is neither empty nor filled with a number.
mlir::Value updatedValue(mlir::linalg::LinalgOp op);

/// "conv2d", "depthwise_conv2d", "pool_max", "matmul", "contraction", "reduction", "elementwise", "movement", "pad", …
std::string operatorKind(mlir::Operation *op);
OpClass operatorClass(mlir::linalg::LinalgOp op);
LayoutRole layoutRole(mlir::Operation *op);
FusionRole fusionRole(mlir::Operation *op);

/// 2 per multiply-accumulate of a reduction, 1 per body op and element otherwise; 0 for movement.
double operatorFlops(mlir::Operation *op);

/// The constant that `value` is, seen through nothing; null if it is computed.
mlir::DenseElementsAttr constantValue(mlir::Value value);

} // namespace autotune
