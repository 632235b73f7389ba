// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// BatchNormalization and the Softmax family.
#include "frontend/Normalization.h"

#include "dialect/Decompose.h"
#include "frontend/OperatorTable.h"
#include "frontend/Scalar.h"

#include <cmath>

namespace autotune {

namespace arith = mlir::arith;
namespace math = mlir::math;
using mlir::Value;

static bool isInference(NodeContext &node) {
  return !node.isOutputUsed(1) && !node.isOutputUsed(2) && node.intAttribute("training_mode", 0) == 0;
}

std::optional<ScaleShift> constantScaleShift(NodeContext &node, int64_t channels) {
  if (node.inputCount() != 5 || !isInference(node) || node.intAttribute("spatial", 1) != 1)
    return std::nullopt;
  for (size_t i = 1; i < 5; ++i)
    if (!node.constant(i) || node.shape(i) != llvm::ArrayRef<int64_t>(channels) || !isFloat(node.type(i)))
      return std::nullopt;
  double epsilon = node.floatAttribute("epsilon", 1e-5f);
  ScaleShift result;
  for (int64_t c = 0; c < channels; ++c) {
    double scale = node.constant(1)->floatAt(c) / std::sqrt(node.constant(4)->floatAt(c) + epsilon);
    result.scale.push_back(scale);
    result.shift.push_back(node.constant(2)->floatAt(c) - node.constant(3)->floatAt(c) * scale);
  }
  return node.failedAlready() ? std::nullopt : std::optional(result);
}

namespace {

ConstantTensor asConstant(ElementType type, llvm::ArrayRef<double> values) {
  std::vector<char> bytes(values.size() * byteSize(type));
  for (size_t i = 0; i < values.size(); ++i)
    storeFloat(bytes.data() + i * byteSize(type), type, values[i]);
  return ConstantTensor::own(type, {static_cast<int64_t>(values.size())}, std::move(bytes));
}

/// Scale and shift computed at run time from parameters that are not known.
std::pair<Value, Value> runtimeScaleShift(NodeContext &node, int64_t channels) {
  Builder &b = node.b;
  double epsilon = node.floatAttribute("epsilon", 1e-5f);
  mlir::Type element = node.elementType(0);
  auto operand = [&](size_t i) {
    return broadcastOperand(b, casted(b, node.input(i), node.type(i), node.type(0)), channels);
  };
  auto scaleBody = [&](Builder &inner, mlir::ValueRange v) -> Value {
    Value variance = scalar::add(inner, v[1], scalar::constantLike(inner, v[1], epsilon));
    return inner.create<arith::DivFOp>(v[0], inner.create<math::SqrtOp>(variance));
  };
  Value scale = elementwise(b, channels, element, {operand(1), operand(4)}, scaleBody);
  auto shiftBody = [](Builder &inner, mlir::ValueRange v) {
    return scalar::sub(inner, v[0], scalar::mul(inner, v[1], v[2]));
  };
  Value shift = elementwise(b, channels, element, {operand(2), operand(3), alongAxis(b, scale, 0, 1)}, shiftBody);
  return {scale, shift};
}

/// Folds all dimensions but the channels into one number for each channel.
Value channelMean(Builder &b, Value tensor) {
  Shape shape(shapeOf(tensor));
  llvm::SmallVector<int64_t> axes = {0};
  llvm::append_range(axes, llvm::seq<int64_t>(2, shape.size()));
  Value sum = reduced(b, tensor, axes, scalarConstant(b, elementOf(tensor), 0),
                      [](Builder &inner, mlir::ValueRange v) { return scalar::add(inner, v[0], v[1]); });
  double count = static_cast<double>(elementCount(shape) / std::max<int64_t>(shape[1], 1));
  llvm::ArrayRef<int64_t> channels = shapeOf(sum);
  return elementwise(b, channels, elementOf(sum), broadcastOperand(b, sum, channels),
                     [&](Builder &inner, mlir::ValueRange v) {
                       return scalar::mul(inner, v[0], scalar::constantLike(inner, v[0], 1 / count));
                     });
}

/// Training mode of opset 14: normalises by the statistics of the batch, and moves the running ones towards
/// them.
mlir::LogicalResult buildBatchStatistics(NodeContext &node) {
  Builder &b = node.b;
  Shape shape(node.shape(0));
  size_t rank = shape.size();
  int64_t channels = shape[1];
  if (elementCount(shape) == 0)
    return node.fail("the statistics of no elements are not defined");
  double epsilon = node.floatAttribute("epsilon", 1e-5f), momentum = node.floatAttribute("momentum", 0.9f);
  mlir::Type element = node.elementType(0), wide = accumulatorType(element);
  auto vector = [&](size_t operand) {
    return alongAxis(b, floatCast(b, node.input(operand), wide), 1, rank);
  };
  Value input = floatCast(b, node.input(0), wide), mean = channelMean(b, input);
  Value centered =
      elementwise(b, shape, wide, {broadcastOperand(b, input, shape), alongAxis(b, mean, 1, rank)},
                  [](Builder &inner, mlir::ValueRange v) { return scalar::sub(inner, v[0], v[1]); });
  Value squares =
      elementwise(b, shape, wide, broadcastOperand(b, centered, shape),
                  [](Builder &inner, mlir::ValueRange v) { return scalar::mul(inner, v[0], v[0]); });
  Value variance = channelMean(b, squares);
  Value result = elementwise(
      b, shape, wide,
      {broadcastOperand(b, centered, shape), alongAxis(b, variance, 1, rank), vector(1), vector(2)},
      [&](Builder &inner, mlir::ValueRange v) {
        Value sum = scalar::add(inner, v[1], scalar::constantLike(inner, v[1], epsilon));
        Value normal = inner.create<arith::DivFOp>(v[0], inner.create<math::SqrtOp>(sum));
        return scalar::add(inner, scalar::mul(inner, normal, v[2]), v[3]);
      });
  auto running = [&](size_t operand, Value current) {
    Value old = floatCast(b, node.input(operand), wide);
    Value moved = elementwise(
        b, channels, wide, {broadcastOperand(b, old, channels), broadcastOperand(b, current, channels)},
        [&](Builder &inner, mlir::ValueRange v) {
          Value kept = scalar::mul(inner, v[0], scalar::constantLike(inner, v[0], momentum));
          Value share = scalar::constantLike(inner, v[1], 1 - momentum);
          return scalar::add(inner, kept, scalar::mul(inner, v[1], share));
        });
    return floatCast(b, moved, node.elementType(operand));
  };
  node.setResult(0, floatCast(b, result, element));
  node.setResult(1, running(3, mean));
  node.setResult(2, running(4, variance));
  return mlir::success();
}

mlir::LogicalResult buildBatchNormalization(NodeContext &node) {
  llvm::ArrayRef<int64_t> shape = node.shape(0);
  bool trains = node.intAttribute("training_mode", 0) != 0;
  if (!trains && !isInference(node))
    return node.fail("outputs that only training has are not supported before opset 14");
  if (node.intAttribute("spatial", 1) != 1)
    return node.fail("spatial = 0 is not supported");
  if (shape.size() < 2 || !isFloat(node.type(0)))
    return node.fail("input is " + spelling(node.type(0)) + " of shape " + shapeText(shape) +
                     ", expected floats of rank 2 or more");
  int64_t channels = shape[1];
  for (size_t i = 1; i < 5; ++i)
    if (node.shape(i) != llvm::ArrayRef<int64_t>(channels) || !isFloat(node.type(i)))
      return node.fail("input " + llvm::Twine(i) + " is " + spelling(node.type(i)) + " of shape " +
                       shapeText(node.shape(i)) + ", expected " + llvm::Twine(channels) + " floats");
  if (trains)
    return buildBatchStatistics(node);
  Builder &b = node.b;
  Value scale, shift;
  if (auto known = constantScaleShift(node, channels)) {
    scale = node.materialize(asConstant(node.type(0), known->scale));
    shift = node.materialize(asConstant(node.type(0), known->shift));
  } else {
    std::tie(scale, shift) = runtimeScaleShift(node, channels);
  }
  auto body = [](Builder &inner, mlir::ValueRange v) {
    return scalar::add(inner, scalar::mul(inner, v[0], v[1]), v[2]);
  };
  node.setResult(0, elementwise(b, shape, node.elementType(0),
                                {broadcastOperand(node, 0, shape), alongAxis(b, scale, 1, shape.size()),
                                 alongAxis(b, shift, 1, shape.size())},
                                body));
  return mlir::success();
}

/// LogSoftmax along `axis` of a tensor that may be a coerced view of the operand.
Value logSoftmax(Builder &b, Value input, int64_t axis) {
  llvm::ArrayRef<int64_t> shape = shapeOf(input);
  mlir::Type element = elementOf(input);
  Value least = b.create<arith::ConstantOp>(scalar::lowest(b, element, ElementType::F32));
  Value greatest = reduced(b, input, axis, least, [](Builder &inner, mlir::ValueRange v) {
    return scalar::max(inner, ElementType::F32, v[0], v[1]);
  });
  ElementwiseOperand whole = broadcastOperand(b, input, shape), rows = alongKept(b, greatest, axis, shape.size());
  Value exponentials = elementwise(b, shape, element, {whole, rows}, [](Builder &inner, mlir::ValueRange v) -> Value {
    return inner.create<math::ExpOp>(scalar::sub(inner, v[0], v[1]));
  });
  Value sum = reduced(b, exponentials, axis, scalarConstant(b, element, 0),
                      [](Builder &inner, mlir::ValueRange v) { return scalar::add(inner, v[0], v[1]); });
  return elementwise(b, shape, element, {whole, rows, alongKept(b, sum, axis, shape.size())},
                     [](Builder &inner, mlir::ValueRange v) -> Value {
                       Value shifted = scalar::sub(inner, v[0], v[1]);
                       return scalar::sub(inner, shifted, inner.create<math::LogOp>(v[2]));
                     });
}

Value softmax(Builder &b, Value input, int64_t axis) {
  Value init = emptyTensor(b, shapeOf(input), elementOf(input));
  return b.create<mlir::linalg::SoftmaxOp>(mlir::TypeRange{init.getType()}, input, init, axis).getResult()[0];
}

} // namespace

Value softmaxed(Builder &b, Value input, int64_t axis, bool coerces, bool logarithm) {
  Shape shape(shapeOf(input));
  // With the last axis both readings agree, and no reshape is needed.
  if (coerces && axis != static_cast<int64_t>(shape.size()) - 1) {
    llvm::ArrayRef<int64_t> dims = shape;
    input = reshapeTo(b, input, {elementCount(dims.take_front(axis)), elementCount(dims.drop_front(axis))});
    axis = 1;
  }
  return reshapeTo(b, logarithm ? logSoftmax(b, input, axis) : softmax(b, input, axis), shape);
}

namespace {

template <bool logarithm> mlir::LogicalResult buildSoftmax(NodeContext &node) {
  if (!isFloat(node.type(0)) || node.rank(0) == 0)
    return node.fail("operand is " + spelling(node.type(0)) + " of shape " + shapeText(node.shape(0)) +
                     ", expected floats of rank 1 or more");
  bool coerces = node.version() < 13;
  int64_t axis = node.axisAttribute("axis", coerces ? 1 : -1, node.rank(0));
  if (node.failedAlready())
    return mlir::failure();
  mlir::Type element = node.elementType(0);
  // The pieces of linalg.softmax sum 16-bit floats in f32 themselves.
  Value input = logarithm ? floatCast(node.b, node.input(0), accumulatorType(element)) : node.input(0);
  node.setResult(0, floatCast(node.b, softmaxed(node.b, input, axis, coerces, logarithm), element));
  return mlir::success();
}

/// One where the greatest element along the axis comes first, zero elsewhere.
mlir::LogicalResult buildHardmax(NodeContext &node) {
  if (!isFloat(node.type(0)) || node.rank(0) == 0)
    return node.fail("operand is " + spelling(node.type(0)) + " of shape " + shapeText(node.shape(0)) +
                     ", expected floats of rank 1 or more");
  bool coerces = node.version() < 13;
  Shape whole(node.shape(0)), shape = whole;
  int64_t axis = node.axisAttribute("axis", coerces ? 1 : -1, node.rank(0));
  if (node.failedAlready())
    return mlir::failure();
  Builder &b = node.b;
  if (coerces) {
    llvm::ArrayRef<int64_t> dims = whole;
    shape = {elementCount(dims.take_front(axis)), elementCount(dims.drop_front(axis))};
    axis = 1;
  }
  Value input = reshapeTo(b, node.input(0), shape);
  mlir::Type element = node.elementType(0);
  Value least = b.create<arith::ConstantOp>(scalar::lowest(b, element, ElementType::F32));
  Value greatest = reduced(b, input, axis, least, [](Builder &inner, mlir::ValueRange v) {
    return scalar::max(inner, ElementType::F32, v[0], v[1]);
  });
  mlir::AffineMap projected = b.getMultiDimIdentityMap(shape.size()).dropResult(axis);
  auto hit = [&](Builder &inner, mlir::ValueRange v) -> Value {
    Value here = inner.create<arith::IndexCastOp>(inner.getI64Type(), inner.create<mlir::linalg::IndexOp>(axis));
    Value equal = scalar::compare(inner, scalar::Relation::Equal, ElementType::F32, v[0], v[1]);
    return inner.create<arith::SelectOp>(equal, here, inner.create<arith::ConstantOp>(inner.getI64IntegerAttr(INT64_MAX)));
  };
  Value positions = elementwise(b, shape, b.getI64Type(),
                                {broadcastOperand(b, input, shape), ElementwiseOperand{greatest, projected, {}}}, hit);
  Value none = b.create<arith::ConstantOp>(b.getI64IntegerAttr(INT64_MAX));
  Value first = reduced(b, positions, axis, none, [](Builder &inner, mlir::ValueRange v) {
    return scalar::min(inner, ElementType::I64, v[0], v[1]);
  });
  Value result = elementwise(
      b, shape, element, ElementwiseOperand{first, projected, {}}, [&](Builder &inner, mlir::ValueRange v) -> Value {
        Value here = inner.create<arith::IndexCastOp>(inner.getI64Type(), inner.create<mlir::linalg::IndexOp>(axis));
        Value chosen = inner.create<arith::CmpIOp>(arith::CmpIPredicate::eq, here, v[0]);
        return inner.create<arith::SelectOp>(chosen, scalarConstant(inner, element, 1), scalarConstant(inner, element, 0));
      });
  node.setResult(0, reshapeTo(b, result, whole));
  return mlir::success();
}

constexpr OperatorEntry kOperators[] = {
    {"", "BatchNormalization", 7, 5, 5, buildBatchNormalization},
    {"", "Hardmax", 1, 1, 1, buildHardmax},
    {"", "LogSoftmax", 1, 1, 1, buildSoftmax<true>},
    {"", "Softmax", 1, 1, 1, buildSoftmax<false>},
};

} // namespace

llvm::ArrayRef<OperatorEntry> normalizationOperators() { return kOperators; }

} // namespace autotune
