// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From IR to the plain dataflow graph that partitioning works on.
#pragma once

#include "schedule/Graph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace autotune {

/// Numbers every operator of `main` in order (attribute `autotune.id`) and returns the graph over these numbers.
/// Numbering happens once, after simplification: ids are what a partition refers to.
Graph extractGraph(mlir::func::FuncOp main);

/// The ONNX node name that `op` came from, or "" when it has none.
std::string operatorLabel(mlir::Operation *op);

} // namespace autotune
