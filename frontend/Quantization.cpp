// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear.
#include "frontend/Quantization.h"

#include "frontend/OperatorTable.h"
#include "frontend/Scalar.h"

namespace autotune {

namespace arith = mlir::arith;
namespace math = mlir::math;
using mlir::Value;

mlir::LogicalResult checkQuantParameters(NodeContext &node, QuantParameters parameters,
                                         llvm::ArrayRef<int64_t> shape, int64_t axis) {
  for (size_t index : {parameters.scale, parameters.zeroPoint}) {
    if (!node.hasInput(index))
      continue;
    bool one = elementCount(node.shape(index)) == 1;
    bool each = node.rank(index) == 1 && axis < static_cast<int64_t>(shape.size()) && node.shape(index)[0] == shape[axis];
    if (!one && !each)
      return node.fail("input " + llvm::Twine(index) + " of shape " + shapeText(node.shape(index)) +
                       " is neither one value nor one for each position of axis " + llvm::Twine(axis) + " of " +
                       shapeText(shape));
  }
  if (!isFloat(node.type(parameters.scale)))
    return node.fail("the scale is " + spelling(node.type(parameters.scale)) + ", expected a float");
  return mlir::success();
}

ElementwiseOperand parameterOperand(NodeContext &node, size_t index, int64_t axis, llvm::ArrayRef<int64_t> shape) {
  const ConstantTensor *constant = node.constant(index);
  if (elementCount(node.shape(index)) == 1 || (constant && constant->isSplat())) {
    if (constant)
      return isFloat(constant->type())
                 ? ElementwiseOperand{{}, {}, node.b.getFloatAttr(node.elementType(index), constant->floatAt(0))}
                 : ElementwiseOperand{{}, {}, node.b.getIntegerAttr(node.elementType(index), constant->intAt(0))};
    return {reshapeTo(node.b, node.input(index), {}), mlir::AffineMap::get(shape.size(), 0, node.b.getContext()), {}};
  }
  return alongAxis(node.b, node.input(index), axis, shape.size());
}

Value centered(NodeContext &node, size_t index, size_t zeroPoint, int64_t axis) {
  llvm::ArrayRef<int64_t> shape = node.shape(index);
  llvm::SmallVector<ElementwiseOperand> operands = {broadcastOperand(node.b, node.input(index), shape)};
  bool hasZero = node.hasInput(zeroPoint);
  if (hasZero)
    operands.push_back(parameterOperand(node, zeroPoint, axis, shape));
  ElementType type = node.type(index);
  return elementwise(node.b, shape, node.b.getI32Type(), operands, [&](Builder &b, mlir::ValueRange v) {
    Value wide = scalar::cast(b, v[0], type, ElementType::I32);
    return hasZero ? scalar::sub(b, wide, scalar::cast(b, v[1], type, ElementType::I32)) : wide;
  });
}

Value dequantized(NodeContext &node, size_t index, QuantParameters parameters, int64_t axis) {
  llvm::ArrayRef<int64_t> shape = node.shape(index);
  ElementType type = node.type(index), scaleType = node.type(parameters.scale);
  llvm::SmallVector<ElementwiseOperand> operands = {broadcastOperand(node.b, node.input(index), shape),
                                                    parameterOperand(node, parameters.scale, axis, shape)};
  bool hasZero = node.hasInput(parameters.zeroPoint);
  if (hasZero)
    operands.push_back(parameterOperand(node, parameters.zeroPoint, axis, shape));
  return elementwise(node.b, shape, node.elementType(parameters.scale), operands,
                     [&](Builder &b, mlir::ValueRange v) {
                       Value number = scalar::cast(b, v[0], type, ElementType::I32);
                       if (hasZero)
                         number = scalar::sub(b, number, scalar::cast(b, v[2], type, ElementType::I32));
                       return scalar::mul(b, scalar::cast(b, number, ElementType::I32, scaleType), v[1]);
                     });
}

Value roundedTo(Builder &b, Value number, Value zeroPoint, ElementType type) {
  Value rounded = b.create<math::RoundEvenOp>(number);
  if (zeroPoint) {
    ElementType floatType = number.getType().isF32() ? ElementType::F32 : ElementType::F16;
    rounded = scalar::add(b, rounded, scalar::cast(b, zeroPoint, type, floatType));
  }
  unsigned bits = 8 * byteSize(type);
  double least = isUnsigned(type) ? 0 : -static_cast<double>(int64_t(1) << (bits - 1));
  double greatest = least + static_cast<double>((int64_t(1) << bits) - 1);
  Value low = b.create<arith::MaximumFOp>(rounded, scalar::constantLike(b, rounded, least));
  Value clamped = b.create<arith::MinimumFOp>(low, scalar::constantLike(b, rounded, greatest));
  return scalar::cast(b, clamped, number.getType().isF32() ? ElementType::F32 : ElementType::F16, type);
}

Value quantized(NodeContext &node, Value floats, QuantParameters parameters, int64_t axis, ElementType type) {
  Shape shape(shapeOf(floats));
  llvm::SmallVector<ElementwiseOperand> operands = {broadcastOperand(node.b, floats, shape),
                                                    parameterOperand(node, parameters.scale, axis, shape)};
  bool hasZero = node.hasInput(parameters.zeroPoint);
  if (hasZero)
    operands.push_back(parameterOperand(node, parameters.zeroPoint, axis, shape));
  return elementwise(node.b, shape, node.mlirType(type), operands, [&](Builder &b, mlir::ValueRange v) {
    Value ratio = b.create<arith::DivFOp>(v[0], v[1]);
    return roundedTo(b, ratio, hasZero ? v[2] : Value(), type);
  });
}

namespace {

bool isQuantizedType(ElementType type) { return isInteger(type) && byteSize(type) <= 2; }

int64_t quantAxis(NodeContext &node) {
  // With one scale for the whole tensor the axis means nothing, and may be outside.
  if (elementCount(node.shape(1)) == 1)
    return 0;
  return node.axisAttribute("axis", 1, node.rank(0));
}

mlir::LogicalResult buildQuantizeLinear(NodeContext &node) {
  int64_t axis = quantAxis(node);
  if (node.intAttribute("block_size", 0) != 0)
    return node.fail("block_size is not supported");
  if (node.failedAlready() || failed(checkQuantParameters(node, {1, 2}, node.shape(0), axis)))
    return mlir::failure();
  ElementType type = node.hasInput(2) ? node.type(2) : ElementType::U8;
  if (int64_t code = node.intAttribute("output_dtype", 0))
    type = elementTypeFromOnnx(code).value_or(ElementType::F32);
  if (!isQuantizedType(type) || node.type(0) != node.type(1) || node.type(0) == ElementType::BF16)
    return node.fail("cannot quantise " + spelling(node.type(0)) + " with a scale of " + spelling(node.type(1)) +
                     " to " + spelling(type));
  node.setResult(0, quantized(node, node.input(0), {1, 2}, axis, type), type);
  return mlir::success();
}

mlir::LogicalResult buildDequantizeLinear(NodeContext &node) {
  int64_t axis = quantAxis(node);
  if (node.intAttribute("block_size", 0) != 0)
    return node.fail("block_size is not supported");
  if (node.failedAlready() || failed(checkQuantParameters(node, {1, 2}, node.shape(0), axis)))
    return mlir::failure();
  if (!isInteger(node.type(0)) || (node.hasInput(2) && node.type(2) != node.type(0)))
    return node.fail("input is " + spelling(node.type(0)) + ", expected integers like its zero point");
  node.setResult(0, dequantized(node, 0, {1, 2}, axis), node.type(1));
  return mlir::success();
}

Value scalarOp(Builder &b, mlir::Type element, llvm::ArrayRef<Value> operands, ScalarBody body) {
  llvm::SmallVector<ElementwiseOperand> reads;
  for (Value operand : operands)
    reads.push_back(broadcastOperand(b, operand, {}));
  return elementwise(b, {}, element, reads, body);
}

/// u8 with scale and zero point from the range of the data, which includes 0.
mlir::LogicalResult buildDynamicQuantizeLinear(NodeContext &node) {
  if (node.type(0) != ElementType::F32)
    return node.fail("input is " + spelling(node.type(0)) + ", expected f32");
  Builder &b = node.b;
  Value input = node.input(0);
  mlir::Type f32 = b.getF32Type();
  std::vector<int64_t> axes = firstIntegers(node.rank(0));
  Value zero = scalarConstant(b, f32, 0);
  Value least = reduced(b, input, axes, zero, [](Builder &inner, mlir::ValueRange v) {
    return scalar::min(inner, ElementType::F32, v[0], v[1]);
  });
  Value greatest = reduced(b, input, axes, zero, [](Builder &inner, mlir::ValueRange v) {
    return scalar::max(inner, ElementType::F32, v[0], v[1]);
  });
  Value scale = scalarOp(b, f32, {least, greatest}, [](Builder &inner, mlir::ValueRange v) -> Value {
    Value range = scalar::sub(inner, v[1], v[0]);
    Value step = inner.create<arith::DivFOp>(range, scalar::constantLike(inner, range, 255));
    Value none = scalar::compare(inner, scalar::Relation::Equal, ElementType::F32, range,
                                 scalar::constantLike(inner, range, 0));
    return inner.create<arith::SelectOp>(none, scalar::constantLike(inner, range, 1), step);
  });
  Value zeroPoint = scalarOp(b, b.getI8Type(), {least, scale}, [](Builder &inner, mlir::ValueRange v) {
    Value ratio = inner.create<arith::DivFOp>(scalar::negate(inner, v[0]), v[1]);
    return roundedTo(inner, ratio, {}, ElementType::U8);
  });
  llvm::ArrayRef<int64_t> shape = node.shape(0);
  Value result = elementwise(b, shape, b.getI8Type(),
                             {broadcastOperand(b, input, shape), broadcastOperand(b, scale, shape),
                              broadcastOperand(b, zeroPoint, shape)},
                             [](Builder &inner, mlir::ValueRange v) {
                               Value ratio = inner.create<arith::DivFOp>(v[0], v[1]);
                               return roundedTo(inner, ratio, v[2], ElementType::U8);
                             });
  node.setResult(0, result, ElementType::U8);
  node.setResult(1, scale, ElementType::F32);
  node.setResult(2, zeroPoint, ElementType::U8);
  return mlir::success();
}

constexpr OperatorEntry kOperators[] = {
    {"", "DequantizeLinear", 10, 2, 3, buildDequantizeLinear},
    {"", "DynamicQuantizeLinear", 11, 1, 1, buildDynamicQuantizeLinear},
    {"", "QuantizeLinear", 10, 2, 3, buildQuantizeLinear},
    {"com.microsoft", "DequantizeLinear", 1, 2, 3, buildDequantizeLinear},
    {"com.microsoft", "QuantizeLinear", 1, 2, 3, buildQuantizeLinear},
};

} // namespace

llvm::ArrayRef<OperatorEntry> quantizationOperators() { return kOperators; }

} // namespace autotune
