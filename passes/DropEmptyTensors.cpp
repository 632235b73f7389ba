// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/DropEmptyTensors.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace autotune {
namespace {

bool isEmpty(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getNumElements() == 0;
}

/// What `op` gives, when an empty operand makes that known without it; null otherwise.
Value valueWithout(OpBuilder &b, Operation *op) {
  Location loc = op->getLoc();
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return isEmpty(insert.getSource()) ? insert.getDest() : nullptr;
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    Value padding = pad.getConstantPaddingValue();
    auto type = cast<RankedTensorType>(pad.getResult().getType());
    if (!isEmpty(pad.getSource()) || !padding)
      return nullptr;
    // The value may be an op of the pad's own body.
    if (Operation *constant = padding.getDefiningOp();
        constant && constant->getParentRegion() == &pad.getRegion())
      padding = b.clone(*constant)->getResult(0);
    Value empty = b.create<tensor::EmptyOp>(loc, type.getShape(), type.getElementType());
    return b.create<linalg::FillOp>(loc, padding, empty).getResult(0);
  }
  if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    SmallVector<Value> parts =
        llvm::to_vector(llvm::make_filter_range(concat.getInputs(), [](Value v) { return !isEmpty(v); }));
    if (parts.size() == concat.getInputs().size())
      return nullptr;
    return parts.size() == 1 ? parts[0] : b.create<tensor::ConcatOp>(loc, concat.getDim(), parts);
  }
  return nullptr;
}

/// True if the op runs over no point at all, so that its initial values stay.
bool runsOverNothing(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && linalgOp.hasPureTensorSemantics() &&
         llvm::is_contained(linalgOp.getStaticLoopRanges(), 0);
}

} // namespace

void dropEmptyTensors(func::FuncOp main) {
  OpBuilder b(main.getContext());
  for (Operation &op : llvm::make_early_inc_range(main.getBody().front().without_terminator())) {
    b.setInsertionPoint(&op);
    if (op.getNumResults() == 0 || isa<tensor::EmptyOp>(op))
      continue;
    if (llvm::all_of(op.getResults(), isEmpty)) {
      for (OpResult result : op.getResults()) {
        auto type = cast<RankedTensorType>(result.getType());
        result.replaceAllUsesWith(
            b.create<tensor::EmptyOp>(op.getLoc(), type.getShape(), type.getElementType()));
      }
    } else if (runsOverNothing(&op)) {
      op.replaceAllUsesWith(cast<linalg::LinalgOp>(op).getDpsInits());
    } else if (Value value = valueWithout(b, &op)) {
      op.getResult(0).replaceAllUsesWith(value);
    } else {
      continue;
    }
    op.erase();
  }
}

} // namespace autotune
