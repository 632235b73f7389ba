// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cloning an op with what it hangs on, and a call in its place.

#include "passes/OutlineAsIs.h"

#include "dialect/AutotuneDialect.h"
#include "passes/OpRoles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace autotune {
namespace {

SmallVector<Value> operandsAndCaptures(Operation *op) {
  llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), values);
  return values.takeVector();
}

bool hasStaticTensors(Operation *op) {
  auto isStatic = [](Type type) {
    auto tensor = dyn_cast<TensorType>(type);
    return !tensor || (isa<RankedTensorType>(tensor) && tensor.hasStaticShape());
  };
  return llvm::all_of(op->getOperandTypes(), isStatic) && llvm::all_of(op->getResultTypes(), isStatic);
}

/// Operands of `op`, and values that its regions read of the surrounding function, seen through recreated
/// ones.
SmallVector<Value> tensorsReadBy(Operation *op) {
  SmallVector<Value> operands = operandsAndCaptures(op);
  llvm::SetVector<Value> values(operands.begin(), operands.end());
  SmallVector<Value> tensors;
  for (size_t i = 0; i < values.size(); ++i) {
    Value value = values[i];
    if (isRecreated(value)) {
      for (Value operand : operandsAndCaptures(value.getDefiningOp()))
        values.insert(operand);
    } else {
      tensors.push_back(value);
    }
  }
  return tensors;
}

} // namespace

bool isRecreated(Value value) {
  Operation *op = value.getDefiningOp();
  return op &&
         (!isa<TensorType>(value.getType()) || isa<linalg::FillOp, tensor::EmptyOp, WinogradFilterOp>(op));
}

void recreate(OpBuilder &b, Value value, IRMapping &mapping) {
  if (mapping.contains(value) || !isRecreated(value))
    return;
  Operation *op = value.getDefiningOp();
  for (Value operand : operandsAndCaptures(op))
    recreate(b, operand, mapping);
  b.clone(*op, mapping);
}

void splitResults(func::FuncOp main) {
  for (Operation &op : llvm::make_early_inc_range(main.getBody().front().without_terminator())) {
    if (op.getNumResults() < 2)
      continue;
    OpBuilder b(&op);
    b.setInsertionPointAfter(&op);
    bool isFirst = true;
    for (auto [index, result] : llvm::enumerate(op.getResults()))
      if (!result.use_empty() && !std::exchange(isFirst, false))
        result.replaceAllUsesWith(b.clone(op)->getResult(index));
  }
}

bool isPlaceable(Operation *op) {
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    Value padding = pad.getConstantPaddingValue();
    return padding && matchPattern(padding, m_Constant()) &&
           llvm::all_of(llvm::concat<const int64_t>(pad.getStaticLow(), pad.getStaticHigh()),
                        [](int64_t n) { return n >= 0; });
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return llvm::none_of(llvm::concat<const int64_t>(slice.getStaticOffsets(), slice.getStaticSizes(),
                                                     slice.getStaticStrides()),
                         ShapedType::isDynamic);
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return matchPattern(fill.getInputs()[0], m_Constant());
  return isa<arith::ConstantOp, tensor::EmptyOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
             tensor::ConcatOp, func::CallOp, func::ReturnOp>(op);
}

LogicalResult outlineAsIs(func::FuncOp main, Operation *op, llvm::StringRef name) {
  if (op->getNumRegions() == 0 && !isPure(op) && !isa<linalg::LinalgOp, linalg::SoftmaxOp>(op))
    return op->emitError("expected an operator without side effects, found '") << op->getName() << "'";
  SmallVector<Value> inputs = tensorsReadBy(op);
  if (!hasStaticTensors(op) || op->getNumResults() == 0)
    return op->emitError("expected operands and results of static shape, found '") << op->getName() << "'";
  Value result = operatorResult(op);
  SmallVector<Type> types = llvm::to_vector(TypeRange(ValueRange(inputs)));
  types.push_back(result.getType());
  Location loc = op->getLoc();
  OpBuilder b = OpBuilder::atBlockEnd(main->getParentOfType<ModuleOp>().getBody());
  auto kernel = b.create<func::FuncOp>(loc, name, b.getFunctionType(types, result.getType()));
  Block *entry = kernel.addEntryBlock();
  IRMapping mapping;
  for (auto [input, argument] : llvm::zip(inputs, entry->getArguments()))
    mapping.map(input, argument);
  b.setInsertionPointToStart(entry);
  for (Value value : operandsAndCaptures(op))
    recreate(b, value, mapping);
  Operation *clone = b.clone(*op, mapping);
  clone->removeAttr(kOperatorIdAttr);
  clone->removeAttr(kSubgraphAttr);
  b.create<func::ReturnOp>(loc, mapping.lookup(result));

  b.setInsertionPoint(op);
  auto type = cast<RankedTensorType>(result.getType());
  inputs.push_back(b.create<tensor::EmptyOp>(loc, type.getShape(), type.getElementType()));
  auto call = b.create<func::CallOp>(loc, kernel, inputs);
  for (llvm::StringRef attribute : {llvm::StringRef(kOperatorIdAttr), llvm::StringRef(kSubgraphAttr)})
    if (Attribute value = op->getAttr(attribute))
      call->setAttr(attribute, value);
  result.replaceAllUsesWith(call.getResult(0));
  op->erase();
  return success();
}

} // namespace autotune
