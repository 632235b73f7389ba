// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums up nodes, operations and bytes.
#include "frontend/ImportBudget.h"

#include "frontend/Emit.h"
#include "frontend/ImportContext.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace autotune {

bool ImportBudget::takeConstantBytes(int64_t bytes) {
  if (bytes > constantBytesLeft())
    return false;
  constantBytes += bytes;
  return true;
}

void ImportBudget::notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint) {
  ++operations;
  // Views and constants have no memory of their own; an empty tensor is the memory of the op that fills it.
  bool owns = !mlir::isa<mlir::tensor::EmptyOp, mlir::tensor::ExpandShapeOp, mlir::tensor::CollapseShapeOp,
                         mlir::tensor::ExtractSliceOp, mlir::arith::ConstantOp>(op);
  for (mlir::Type result : op->getResultTypes()) {
    auto type = mlir::dyn_cast<mlir::RankedTensorType>(result);
    if (!type)
      continue;
    std::optional<int64_t> bytes = checkedByteCount(type.getShape(), fromMlirType(type.getElementType()));
    if (!bytes && impossible.empty())
      impossible = shapeText(type.getShape());
    if (owns)
      runtimeBytes += bytes.value_or(0);
  }
}

std::string ImportBudget::exceeded() const {
  auto more = [](const llvm::Twine &what, int64_t limit) {
    return ("the model has too many " + what + " (more than " + llvm::Twine(limit) + ")").str();
  };
  if (!impossible.empty())
    return "it needs a tensor of shape " + impossible + ", which is impossible or larger than " +
           std::to_string(kMaxTensorBytes) + " bytes";
  if (nodes > limits.nodes)
    return more("nodes after unrolling", limits.nodes);
  if (operations > limits.operations)
    return more("operations after unrolling", limits.operations);
  if (runtimeBytes > limits.runtimeBytes)
    return "the values computed so far need " + std::to_string(runtimeBytes) + " bytes, supported are " +
           std::to_string(limits.runtimeBytes);
  return {};
}

} // namespace autotune
