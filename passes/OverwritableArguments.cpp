// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/OverwritableArguments.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace autotune {
namespace {

/// An argument, or one slice of it.
struct ArgumentPart {
  BlockArgument argument;
  tensor::ExtractSliceOp slice; // null: all of it

  static ArgumentPart of(Value value) {
    auto slice = value.getDefiningOp<tensor::ExtractSliceOp>();
    return {dyn_cast<BlockArgument>(slice ? slice.getSource() : value), slice};
  }
  bool isSamePlaceAs(ArgumentPart other) {
    if (!argument || !other.argument || argument.getType() != other.argument.getType() ||
        !slice != !other.slice)
      return false;
    return !slice || (slice.getType() == other.slice.getType() &&
                      slice.getStaticOffsets() == other.slice.getStaticOffsets() &&
                      slice.getStaticSizes() == other.slice.getStaticSizes() &&
                      slice.getStaticStrides() == other.slice.getStaticStrides());
  }
  /// Nothing but `op` reads it.
  bool isReadOnlyBy(Operation *op) {
    Value value = slice ? slice.getResult() : Value(argument);
    return argument.hasOneUse() &&
           llvm::all_of(value.getUsers(), [&](Operation *user) { return user == op; }) && value.hasOneUse();
  }
};

/// The op that computes the whole kernel, element by element.
linalg::GenericOp onlyElementwiseOp(func::FuncOp kernel) {
  SmallVector<linalg::LinalgOp> ops;
  kernel.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  auto op = ops.size() == 1 ? dyn_cast<linalg::GenericOp>(ops.front().getOperation()) : linalg::GenericOp();
  if (!op || op.getNumResults() != 1 || op.getNumReductionLoops() > 0 ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isPermutation())
    return {};
  // A copy of a buffer to itself would be a call with overlapping operands.
  bool computes = !llvm::hasSingleElement(op.getBody()->getOperations());
  return computes ? op : linalg::GenericOp();
}

} // namespace

SmallVector<unsigned> overwritableArguments(func::FuncOp kernel) {
  SmallVector<unsigned> indices;
  linalg::GenericOp op = onlyElementwiseOp(kernel);
  if (!op)
    return indices;
  OpOperand *init = op.getDpsInitOperand(0);
  ArgumentPart dest = ArgumentPart::of(init->get());
  if (!dest.argument || dest.argument.getArgNumber() + 1 != kernel.getNumArguments())
    return indices;
  for (OpOperand *input : op.getDpsInputOperands()) {
    ArgumentPart part = ArgumentPart::of(input->get());
    if (part.argument != dest.argument && part.isSamePlaceAs(dest) && part.isReadOnlyBy(op) &&
        op.getMatchingIndexingMap(input) == op.getMatchingIndexingMap(init))
      indices.push_back(part.argument.getArgNumber());
  }
  return indices;
}

void markOverwritableArguments(func::FuncOp kernel) {
  for (unsigned index : overwritableArguments(kernel))
    kernel.setArgAttr(index, kOverwritableAttr, UnitAttr::get(kernel.getContext()));
}

} // namespace autotune
