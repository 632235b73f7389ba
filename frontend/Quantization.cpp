// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic between integers and the numbers that they stand for.
#include "frontend/Quantization.h"

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
    bool each = node.rank(index) == 1 && axis < static_cast<int64_t>(shape.size()) &&
                node.shape(index)[0] == shape[axis];
    if (!one && !each)
      return node.fail("input " + llvm::Twine(index) + " of shape " + shapeText(node.shape(index)) +
                       " is neither one value nor one for each position of axis " + llvm::Twine(axis) +
                       " of " + shapeText(shape));
  }
  if (!isFloat(node.type(parameters.scale)))
    return node.fail("the scale is " + spelling(node.type(parameters.scale)) + ", expected a float");
  return mlir::success();
}

Shape alongAxisShape(int64_t count, int64_t axis, int64_t rank) {
  Shape shape(std::max<int64_t>(rank - axis, 0), 1);
  if (!shape.empty())
    shape[0] = count;
  return shape;
}

ElementwiseOperand parameterOperand(NodeContext &node, size_t index, llvm::ArrayRef<int64_t> as,
                                    llvm::ArrayRef<int64_t> shape) {
  bool one = elementCount(node.shape(index)) == 1;
  return broadcastOperand(node, index, one ? llvm::ArrayRef<int64_t>() : as, shape);
}

/// The type in which quantisation with a scale of `scale` is computed.
static ElementType computeType(ElementType scale) {
  return scale == ElementType::F64 ? ElementType::F64 : ElementType::F32;
}

Value dequantized(NodeContext &node, Value x, ElementType type, QuantParameters parameters,
                  llvm::ArrayRef<int64_t> as, ElementType result) {
  Shape shape(shapeOf(x));
  ElementType scaleType = node.type(parameters.scale), compute = computeType(scaleType);
  llvm::SmallVector<ElementwiseOperand> operands = {broadcastOperand(node.b, x, shape),
                                                    parameterOperand(node, parameters.scale, as, shape)};
  bool hasZero = node.hasInput(parameters.zeroPoint);
  if (hasZero)
    operands.push_back(parameterOperand(node, parameters.zeroPoint, as, shape));
  return elementwise(node.b, shape, node.mlirType(result), operands, [&](Builder &b, mlir::ValueRange v) {
    Value number = scalar::cast(b, v[0], type, ElementType::I32);
    if (hasZero)
      number = scalar::sub(b, number, scalar::cast(b, v[2], type, ElementType::I32));
    Value product = scalar::mul(b, scalar::cast(b, number, ElementType::I32, compute),
                                scalar::cast(b, v[1], scaleType, compute));
    return scalar::cast(b, product, compute, result);
  });
}

Value dequantized(NodeContext &node, size_t index, QuantParameters parameters) {
  return dequantized(node, node.input(index), node.type(index), parameters, {}, ElementType::F32);
}

Value roundedTo(Builder &b, Value number, Value zeroPoint, ElementType type) {
  ElementType floatType = number.getType().isF64() ? ElementType::F64 : ElementType::F32;
  Value rounded = b.create<math::RoundEvenOp>(number);
  if (zeroPoint)
    rounded = scalar::add(b, rounded, scalar::cast(b, zeroPoint, type, floatType));
  unsigned bits = 8 * byteSize(type);
  double least = isUnsigned(type) ? 0 : -static_cast<double>(int64_t(1) << (bits - 1));
  double greatest = least + static_cast<double>((int64_t(1) << bits) - 1);
  Value low = b.create<arith::MaximumFOp>(rounded, scalar::constantLike(b, rounded, least));
  Value clamped = b.create<arith::MinimumFOp>(low, scalar::constantLike(b, rounded, greatest));
  // Every value fits in i32, to which vectors convert in one instruction.
  return scalar::cast(b, b.create<arith::FPToSIOp>(b.getI32Type(), clamped), ElementType::I32, type);
}

Value quantized(NodeContext &node, Value x, ElementType from, QuantParameters parameters,
                llvm::ArrayRef<int64_t> as, ElementType type) {
  Shape shape(shapeOf(x));
  ElementType scaleType = node.type(parameters.scale), compute = computeType(scaleType);
  llvm::SmallVector<ElementwiseOperand> operands = {broadcastOperand(node.b, x, shape),
                                                    parameterOperand(node, parameters.scale, as, shape)};
  bool hasZero = node.hasInput(parameters.zeroPoint);
  if (hasZero)
    operands.push_back(parameterOperand(node, parameters.zeroPoint, as, shape));
  return elementwise(node.b, shape, node.mlirType(type), operands, [&](Builder &b, mlir::ValueRange v) {
    Value ratio = b.create<arith::DivFOp>(scalar::cast(b, v[0], from, compute),
                                          scalar::cast(b, v[1], scaleType, compute));
    return roundedTo(b, ratio, hasZero ? v[2] : Value(), type);
  });
}

Value quantized(NodeContext &node, Value floats, QuantParameters parameters, ElementType type) {
  return quantized(node, floats, ElementType::F32, parameters, {}, type);
}

std::optional<ConstantTensor> centeredConstant(NodeContext &node, size_t index, size_t zeroPoint,
                                               llvm::ArrayRef<int64_t> as) {
  const ConstantTensor *x = node.constant(index);
  const ConstantTensor *zero = node.constant(zeroPoint);
  bool hasZero = node.hasInput(zeroPoint);
  if (!x || (hasZero && !zero))
    return std::nullopt;
  // Strides with which the zero points are read along the dimensions of x.
  llvm::ArrayRef<int64_t> shape = x->shape();
  Shape strides(shape.size(), 0), own = rowMajorStrides(as);
  if (hasZero && zero->size() > 1)
    for (size_t i = 0; i < as.size(); ++i)
      if (as[i] != 1)
        strides[shape.size() - as.size() + i] = own[i];
  std::vector<char> bytes(x->size() * sizeof(int32_t));
  Shape position(shape.size(), 0);
  int64_t at = 0;
  for (int64_t i = 0, e = x->size(); i < e; ++i) {
    int64_t value = x->intAt(i) - (hasZero ? zero->intAt(at) : 0);
    storeInt(bytes.data() + i * sizeof(int32_t), ElementType::I32, value);
    for (int64_t axis = static_cast<int64_t>(shape.size()) - 1; axis >= 0; --axis) {
      at += strides[axis];
      if (++position[axis] < shape[axis])
        break;
      at -= strides[axis] * shape[axis];
      position[axis] = 0;
    }
  }
  return ConstantTensor::own(ElementType::I32, shape, std::move(bytes));
}

Value centered(NodeContext &node, size_t index, size_t zeroPoint, llvm::ArrayRef<int64_t> as) {
  if (std::optional<ConstantTensor> known = centeredConstant(node, index, zeroPoint, as))
    return node.materialize(*known);
  llvm::ArrayRef<int64_t> shape = node.shape(index);
  llvm::SmallVector<ElementwiseOperand> operands = {broadcastOperand(node.b, node.input(index), shape)};
  bool hasZero = node.hasInput(zeroPoint);
  if (hasZero)
    operands.push_back(parameterOperand(node, zeroPoint, as, shape));
  ElementType type = node.type(index), zeroType = hasZero ? node.type(zeroPoint) : type;
  return elementwise(node.b, shape, node.b.getI32Type(), operands, [&](Builder &b, mlir::ValueRange v) {
    Value wide = scalar::cast(b, v[0], type, ElementType::I32);
    return hasZero ? scalar::sub(b, wide, scalar::cast(b, v[1], zeroType, ElementType::I32)) : wide;
  });
}

static Value scalarOp(Builder &b, mlir::Type element, llvm::ArrayRef<Value> operands, ScalarBody body) {
  llvm::SmallVector<ElementwiseOperand> reads;
  for (Value operand : operands)
    reads.push_back(broadcastOperand(b, operand, {}));
  return elementwise(b, {}, element, reads, body);
}

DynamicQuantization dynamicQuantization(Builder &b, Value floats) {
  mlir::Type f32 = b.getF32Type();
  std::vector<int64_t> axes = firstIntegers(shapeOf(floats).size());
  Value zero = scalarConstant(b, f32, 0);
  Value least = reduced(b, floats, axes, zero, [](Builder &inner, mlir::ValueRange v) {
    return scalar::min(inner, ElementType::F32, v[0], v[1]);
  });
  Value greatest = reduced(b, floats, axes, zero, [](Builder &inner, mlir::ValueRange v) {
    return scalar::max(inner, ElementType::F32, v[0], v[1]);
  });
  DynamicQuantization result;
  result.scale = scalarOp(b, f32, {least, greatest}, [](Builder &inner, mlir::ValueRange v) -> Value {
    Value range = scalar::sub(inner, v[1], v[0]);
    Value step = inner.create<arith::DivFOp>(range, scalar::constantLike(inner, range, 255));
    Value none = scalar::compare(inner, scalar::Relation::Equal, ElementType::F32, range,
                                 scalar::constantLike(inner, range, 0));
    return inner.create<arith::SelectOp>(none, scalar::constantLike(inner, range, 1), step);
  });
  result.zeroPoint =
      scalarOp(b, b.getI8Type(), {least, result.scale}, [](Builder &inner, mlir::ValueRange v) {
        Value ratio = inner.create<arith::DivFOp>(scalar::negate(inner, v[0]), v[1]);
        return roundedTo(inner, ratio, {}, ElementType::U8);
      });
  return result;
}

Value dynamicallyQuantized(Builder &b, Value floats, const DynamicQuantization &parameters) {
  Shape shape(shapeOf(floats));
  return elementwise(b, shape, b.getI8Type(),
                     {broadcastOperand(b, floats, shape), broadcastOperand(b, parameters.scale, shape),
                      broadcastOperand(b, parameters.zeroPoint, shape)},
                     [](Builder &inner, mlir::ValueRange v) {
                       Value ratio = inner.create<arith::DivFOp>(v[0], v[1]);
                       return roundedTo(inner, ratio, v[2], ElementType::U8);
                     });
}

} // namespace autotune
