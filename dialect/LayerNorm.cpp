// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// autotune.layer_norm: what is valid, and the op in linalg.
#include "dialect/AutotuneDialect.h"
#include "dialect/Decompose.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace autotune {

namespace arith = mlir::arith;
using mlir::Value;

namespace {

Value sumOver(Builder &b, Value tensor, llvm::ArrayRef<int64_t> axes, ScalarBody term) {
  return reduced(b, tensor, axes, scalarConstant(b, elementOf(tensor), 0),
                 [&](Builder &inner, mlir::ValueRange v) -> Value {
                   return inner.create<arith::AddFOp>(term(inner, v[0]), v[1]);
                 });
}

Value overCount(Builder &b, Value sum, int64_t count) {
  Value factor = scalarConstant(b, sum.getType(), 1.0 / static_cast<double>(count));
  return b.create<arith::MulFOp>(sum, factor);
}

Value mapped(Builder &b, Value tensor, llvm::function_ref<Value(Builder &, Value)> body) {
  Shape shape(shapeOf(tensor));
  return elementwise(b, shape, elementOf(tensor), broadcastOperand(b, tensor, shape),
                     [&](Builder &inner, mlir::ValueRange v) { return body(inner, v[0]); });
}

} // namespace

Moments momentsInPieces(Builder &b, Value input, llvm::ArrayRef<int64_t> axes, double epsilon, bool rms) {
  Shape shape(shapeOf(input));
  int64_t count = 1;
  for (int64_t axis : axes)
    count *= shape[axis];
  Moments moments;
  moments.centered = input;
  if (!rms) {
    Value sum = sumOver(b, input, axes, [](Builder &, mlir::ValueRange v) { return v[0]; });
    moments.mean = mapped(b, sum, [&](Builder &inner, Value x) { return overCount(inner, x, count); });
    moments.centered = elementwise(
        b, shape, elementOf(input),
        {broadcastOperand(b, input, shape), alongKept(b, moments.mean, axes, shape.size())},
        [](Builder &inner, mlir::ValueRange v) -> Value { return inner.create<arith::SubFOp>(v[0], v[1]); });
  }
  Value squares = sumOver(b, moments.centered, axes, [](Builder &inner, mlir::ValueRange v) -> Value {
    return inner.create<arith::MulFOp>(v[0], v[0]);
  });
  moments.inverseDeviation = mapped(b, squares, [&](Builder &inner, Value x) -> Value {
    Value guarded =
        inner.create<arith::AddFOp>(overCount(inner, x, count), scalarConstant(inner, x.getType(), epsilon));
    return inner.create<arith::DivFOp>(scalarConstant(inner, x.getType(), 1),
                                       inner.create<mlir::math::SqrtOp>(guarded));
  });
  return moments;
}

mlir::LogicalResult LayerNormOp::verify() {
  llvm::ArrayRef<int64_t> axes = getAxes(), shape = getInput().getType().getShape();
  if (axes.empty())
    return emitOpError("has no axes, expected at least one");
  for (auto [i, axis] : llvm::enumerate(axes)) {
    if (axis < 0 || axis >= static_cast<int64_t>(shape.size()))
      return emitOpError("has axis ") << axis << ", expected 0 to " << static_cast<int64_t>(shape.size()) - 1;
    if (i > 0 && axes[i - 1] >= axis)
      return emitOpError("has axes that are not sorted or repeat");
  }
  for (auto [name, operand] : {std::pair("scale", getScale()), std::pair("bias", getBias())}) {
    if (!operand)
      continue;
    auto type = mlir::cast<mlir::RankedTensorType>(operand.getType());
    std::optional<Shape> joined = broadcastShape(shape, type.getShape());
    if (!joined || llvm::ArrayRef<int64_t>(*joined) != shape ||
        type.getElementType() != getInput().getType().getElementType())
      return emitOpError() << name << " is " << type << ", expected one that broadcasts to "
                           << getInput().getType();
  }
  return mlir::success();
}

mlir::FailureOr<llvm::SmallVector<Value>> LayerNormOp::decomposeOperation(mlir::OpBuilder &builder) {
  Builder b(getLoc(), builder);
  Shape shape(getInput().getType().getShape());
  mlir::Type element = getInput().getType().getElementType();
  Value wide = floatCast(b, getInput(), accumulatorType(element));
  Moments moments = momentsInPieces(b, wide, getAxes(), getEpsilon().convertToDouble(), getRms());
  llvm::SmallVector<ElementwiseOperand> operands = {
      broadcastOperand(b, moments.centered, shape),
      alongKept(b, moments.inverseDeviation, getAxes(), shape.size())};
  for (Value parameter : {getScale(), getBias()})
    if (parameter)
      operands.push_back(foldedOperand(b, parameter, shape));
  Value result = elementwise(b, shape, element, operands, [&](Builder &inner, mlir::ValueRange v) -> Value {
    Value y = inner.create<arith::MulFOp>(v[0], v[1]);
    if (y.getType() != element)
      y = inner.create<arith::TruncFOp>(element, y);
    if (getScale())
      y = inner.create<arith::MulFOp>(y, v[2]);
    return getBias() ? inner.create<arith::AddFOp>(y, v.back()).getResult() : y;
  });
  return llvm::SmallVector<Value>{result};
}

} // namespace autotune
