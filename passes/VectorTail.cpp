// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clones scalar bodies with vectors in the place of scalars.

#include "passes/VectorTail.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace autotune {

FailureOr<BufferPart> BufferPart::of(Value tensor) {
  BufferPart part;
  part.offsets.assign(cast<RankedTensorType>(tensor.getType()).getRank(), 0);
  while (auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>()) {
    bool isPlain = slice.getSourceType().getRank() == slice.getType().getRank() &&
                   llvm::all_of(slice.getStaticStrides(), [](int64_t stride) { return stride == 1; }) &&
                   llvm::none_of(slice.getStaticOffsets(), ShapedType::isDynamic);
    if (!isPlain)
      return slice.emitError("expected a slice of step 1 at constant offsets");
    for (auto [offset, added] : llvm::zip(part.offsets, slice.getStaticOffsets()))
      offset += added;
    tensor = slice.getSource();
  }
  part.argument = dyn_cast<BlockArgument>(tensor);
  if (!part.argument)
    return emitError(tensor.getLoc(), "expected a tensor that the kernel is given");
  return part;
}

static Value broadcast(OpBuilder &b, Location loc, Value scalar, int64_t lanes) {
  return b.create<vector::BroadcastOp>(loc, VectorType::get({lanes}, scalar.getType()), scalar);
}

/// A vector along the last loop, or one element for all lanes.
FailureOr<Value> VectorTail::readOperand(OpBuilder &b, OpOperand *operand, AffineMap map,
                                         ArrayRef<Value> indices) const {
  Location loc = operand->getOwner()->getLoc();
  Value value = operand->get();
  if (!isa<RankedTensorType>(value.getType()))
    return broadcast(b, loc, buffers.lookup(value), lanes);
  FailureOr<BufferPart> part = BufferPart::of(value);
  if (failed(part))
    return failure();
  unsigned vectorLoop = map.getNumDims() - 1;
  bool isVector = map.isFunctionOfDim(vectorLoop);
  if (!map.isProjectedPermutation(/*allowZeroInResults=*/true) ||
      (isVector && map.getResults().back() != b.getAffineDimExpr(vectorLoop)))
    return operand->getOwner()->emitError("expected an operand that is read along its last axis");
  SmallVector<Value> at;
  for (auto [expr, offset] : llvm::zip(map.getResults(), part->offsets)) {
    Value constant = b.create<arith::ConstantIndexOp>(loc, offset);
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || (isVector && dim.getPosition() == vectorLoop))
      at.push_back(constant);
    else if (offset == 0)
      at.push_back(indices[dim.getPosition()]);
    else
      at.push_back(b.create<arith::AddIOp>(loc, indices[dim.getPosition()], constant));
  }
  Value buffer = buffers.lookup(part->argument);
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  if (isVector)
    return b.create<vector::LoadOp>(loc, VectorType::get({lanes}, element), buffer, at).getResult();
  return broadcast(b, loc, b.create<memref::LoadOp>(loc, buffer, at), lanes);
}

FailureOr<Value> VectorTail::emitOp(OpBuilder &b, linalg::GenericOp op, llvm::DenseMap<Value, Value> &known,
                                    ArrayRef<Value> indices) const {
  llvm::DenseMap<Value, Value> vectors;
  for (OpOperand *input : op.getDpsInputOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(input);
    if (argument.use_empty())
      continue;
    if (Value value = known.lookup(input->get())) {
      vectors[argument] = value;
      continue;
    }
    FailureOr<Value> value = readOperand(b, input, op.getMatchingIndexingMap(input), indices);
    if (failed(value))
      return failure();
    vectors[argument] = *value;
  }
  auto vectorOf = [&](Value scalar) {
    Value &vector = vectors[scalar];
    if (!vector)
      vector = broadcast(b, op.getLoc(), buffers.lookupOrDefault(scalar), lanes);
    return vector;
  };
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (auto constant = dyn_cast<arith::ConstantOp>(inner)) {
      auto type = VectorType::get({lanes}, constant.getType());
      vectors[constant] =
          b.create<arith::ConstantOp>(constant.getLoc(), DenseElementsAttr::get(type, constant.getValue()));
      continue;
    }
    if (!OpTrait::hasElementwiseMappableTraits(&inner))
      return inner.emitError("expected a tail of elementwise operations, found '") << inner.getName() << "'";
    OperationState state(inner.getLoc(), inner.getName());
    state.addAttributes(inner.getAttrs());
    for (Value operand : inner.getOperands())
      state.operands.push_back(vectorOf(operand));
    for (Type type : inner.getResultTypes())
      state.types.push_back(VectorType::get({lanes}, type));
    Operation *vectorised = b.create(state);
    for (auto [scalar, vector] : llvm::zip(inner.getResults(), vectorised->getResults()))
      vectors[scalar] = vector;
  }
  return vectorOf(op.getBody()->getTerminator()->getOperand(0));
}

FailureOr<Value> VectorTail::emit(OpBuilder &b, Value rootTensor, Value root, ArrayRef<Value> indices) const {
  llvm::DenseMap<Value, Value> known = {{rootTensor, root}};
  for (linalg::GenericOp op : tail) {
    FailureOr<Value> value = emitOp(b, op, known, indices);
    if (failed(value))
      return failure();
    known[op.getResult(0)] = root = *value;
  }
  return root;
}

} // namespace autotune
