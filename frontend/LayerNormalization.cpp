// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Normalisations by statistics of the input: Layer, Group, Instance, mean-variance, Lp, local response.
#include "dialect/AutotuneDialect.h"
#include "dialect/Decompose.h"
#include "frontend/OperatorTable.h"
#include "frontend/Scalar.h"
#include "frontend/Statistics.h"

namespace autotune {

namespace arith = mlir::arith;
namespace math = mlir::math;
using mlir::Value;

namespace {

mlir::LogicalResult requireFloats(NodeContext &node, int64_t leastRank) {
  if (isFloat(node.type(0)) && node.rank(0) >= leastRank)
    return mlir::success();
  return node.fail("input is " + spelling(node.type(0)) + " of shape " + shapeText(node.shape(0)) +
                   ", expected floats of rank " + llvm::Twine(leastRank) + " or more");
}

} // namespace

Standardized standardized(Builder &b, Value input, llvm::ArrayRef<int64_t> axes, double epsilon, bool centers) {
  Value normal = b.create<LayerNormOp>(input.getType(), input, /*scale=*/Value(), /*bias=*/Value(), axes,
                                       llvm::APFloat(epsilon), /*rms=*/!centers);
  // The same ops as in the pieces of the op: what is read of them is computed once.
  Moments moments = momentsInPieces(b, input, axes, epsilon, !centers);
  return {normal, moments.mean, moments.inverseDeviation};
}

namespace {

Value scaledAndShifted(Builder &b, Value tensor, ElementwiseOperand scale, std::optional<ElementwiseOperand> shift) {
  Shape shape(shapeOf(tensor));
  llvm::SmallVector<ElementwiseOperand> operands = {broadcastOperand(b, tensor, shape), scale};
  if (shift)
    operands.push_back(*shift);
  return elementwise(b, shape, elementOf(tensor), operands, [&](Builder &inner, mlir::ValueRange v) {
    Value product = scalar::mul(inner, v[0], v[1]);
    return shift ? scalar::add(inner, product, v[2]) : product;
  });
}

mlir::LogicalResult buildLayerNormalization(NodeContext &node) {
  if (failed(requireFloats(node, 1)))
    return mlir::failure();
  Builder &b = node.b;
  Shape shape(node.shape(0));
  int64_t rank = shape.size(), axis = node.axisAttribute("axis", -1, rank);
  for (size_t i = 1; i < node.inputCount(); ++i) {
    std::optional<Shape> joined = node.hasInput(i) ? broadcastShape(shape, node.shape(i)) : shape;
    if (!joined || *joined != shape || (node.hasInput(i) && node.type(i) != node.type(0)))
      return node.fail("input " + llvm::Twine(i) + " of shape " + shapeText(node.shape(i)) + " does not fit " +
                       shapeText(shape));
  }
  llvm::SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(axis, rank));
  double epsilon = node.floatAttribute("epsilon", 1e-5f);
  Value input = node.input(0), bias = node.hasInput(2) ? node.input(2) : Value();
  node.setResult(0, b.create<LayerNormOp>(input.getType(), input, node.input(1), bias, axes,
                                          b.getF64FloatAttr(epsilon).getValue(), /*rms=*/false));
  if (!node.isOutputUsed(1) && !node.isOutputUsed(2))
    return mlir::success();
  // The same statistics as in the pieces of the op, so that they are computed once.
  Value wide = floatCast(b, input, accumulatorType(node.elementType(0)));
  Moments moments = momentsInPieces(b, wide, axes, epsilon, /*rms=*/false);
  Shape kept = reducedShape(shape, axes, /*keepDims=*/true);
  node.setResult(1, reshapeTo(b, moments.mean, kept));
  node.setResult(2, reshapeTo(b, moments.inverseDeviation, kept));
  return mlir::success();
}

/// x / sqrt(mean of squares + epsilon) * scale
mlir::LogicalResult buildRMSNormalization(NodeContext &node) {
  if (failed(requireFloats(node, 1)))
    return mlir::failure();
  Builder &b = node.b;
  Shape shape(node.shape(0));
  int64_t rank = shape.size(), axis = node.axisAttribute("axis", -1, rank);
  std::optional<Shape> joined = broadcastShape(shape, node.shape(1));
  if (!joined || *joined != shape || !isFloat(node.type(1)))
    return node.fail("scale of shape " + shapeText(node.shape(1)) + " does not fit " + shapeText(shape));
  llvm::SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(axis, rank));
  double epsilon = node.floatAttribute("epsilon", 1e-5f);
  if (node.type(0) == node.type(1)) {
    node.setResult(0, b.create<LayerNormOp>(node.input(0).getType(), node.input(0), node.input(1), Value(), axes,
                                            b.getF64FloatAttr(epsilon).getValue(), /*rms=*/true));
    return mlir::success();
  }
  mlir::Type wide = accumulatorType(node.elementType(0));
  Value input = floatCast(b, node.input(0), wide);
  Value factor = momentsInPieces(b, input, axes, epsilon, /*rms=*/true).inverseDeviation;
  ElementType wideType = byteSize(node.type(0)) == 2 ? ElementType::F32 : node.type(0),
              scaleType = node.type(1);
  Value result =
      elementwise(b, shape, wide,
                  {broadcastOperand(b, input, shape), alongKept(b, factor, axes, shape.size()),
                   broadcastOperand(node, 1, shape)},
                  [&](Builder &inner, mlir::ValueRange v) -> Value {
                    Value normal = scalar::mul(inner, v[0], v[1]);
                    return scalar::mul(inner, normal, scalar::cast(inner, v[2], scaleType, wideType));
                  });
  // The result has the type of the scale.
  node.setResult(0, casted(b, result, wideType, scaleType), scaleType);
  return mlir::success();
}

mlir::LogicalResult requireEach(NodeContext &node, int64_t count) {
  for (size_t i = 1; i < 3; ++i)
    if (node.shape(i) != llvm::ArrayRef<int64_t>(count) || node.type(i) != node.type(0))
      return node.fail("input " + llvm::Twine(i) + " is " + spelling(node.type(i)) + " of shape " +
                       shapeText(node.shape(i)) + ", expected " + llvm::Twine(count) + " of " +
                       spelling(node.type(0)));
  return mlir::success();
}

/// Statistics of each group; scale and bias for each channel, or for each group.
void normalizeGroups(NodeContext &node, int64_t groups, bool scalesGroups) {
  Builder &b = node.b;
  Shape shape(node.shape(0));
  Shape grouped = {shape[0], groups, elementCount(shape) / std::max<int64_t>(shape[0] * groups, 1)};
  double epsilon = node.floatAttribute("epsilon", 1e-5f);
  Value normal = standardized(b, reshapeTo(b, node.input(0), grouped), {2}, epsilon).normal;
  Shape scaledShape = scalesGroups ? grouped : shape;
  size_t rank = scaledShape.size();
  Value result = scaledAndShifted(b, reshapeTo(b, normal, scaledShape), alongAxis(b, node.input(1), 1, rank), alongAxis(b, node.input(2), 1, rank));
  node.setResult(0, reshapeTo(b, result, shape));
}

mlir::LogicalResult buildInstanceNormalization(NodeContext &node) {
  if (failed(requireFloats(node, 3)) || failed(requireEach(node, node.shape(0)[1])))
    return mlir::failure();
  normalizeGroups(node, node.shape(0)[1], /*scalesGroups=*/false);
  return mlir::success();
}

mlir::LogicalResult buildGroupNormalization(NodeContext &node) {
  int64_t groups = node.intAttribute("num_groups", 0);
  if (failed(requireFloats(node, 3)))
    return mlir::failure();
  if (groups < 1 || node.shape(0)[1] % groups != 0)
    return node.fail(llvm::Twine(groups) + " groups do not divide the channels of " + shapeText(node.shape(0)));
  bool scalesGroups = node.version() < 21;
  if (failed(requireEach(node, scalesGroups ? groups : node.shape(0)[1])))
    return mlir::failure();
  normalizeGroups(node, groups, scalesGroups);
  return mlir::success();
}

mlir::LogicalResult buildMeanVarianceNormalization(NodeContext &node) {
  if (failed(requireFloats(node, 1)))
    return mlir::failure();
  std::vector<int64_t> axes = node.normalizedAxes(node.intsAttribute("axes", {0, 2, 3}), node.rank(0));
  if (node.failedAlready())
    return mlir::failure();
  // Guards against a deviation of 0, as ONNX's own definition does.
  node.setResult(0, standardized(node.b, node.input(0), axes, 1e-18).normal);
  return mlir::success();
}

mlir::LogicalResult buildLpNormalization(NodeContext &node) {
  int64_t p = node.intAttribute("p", 2);
  if (failed(requireFloats(node, 1)))
    return mlir::failure();
  if (p != 1 && p != 2)
    return node.fail("p is " + llvm::Twine(p) + ", expected 1 or 2");
  Builder &b = node.b;
  Shape shape(node.shape(0));
  int64_t axis = node.axisAttribute("axis", -1, shape.size());
  mlir::Type element = node.elementType(0), wide = accumulatorType(element);
  Value input = floatCast(b, node.input(0), wide);
  Value sum = reduced(b, input, axis, scalarConstant(b, wide, 0), [&](Builder &inner, mlir::ValueRange v) -> Value {
    Value term = p == 1 ? Value(inner.create<math::AbsFOp>(v[0])) : scalar::mul(inner, v[0], v[0]);
    return scalar::add(inner, term, v[1]);
  });
  Value result = elementwise(b, shape, wide,
                             {broadcastOperand(b, input, shape), alongKept(b, sum, axis, shape.size())},
                             [&](Builder &inner, mlir::ValueRange v) -> Value {
                               Value norm = p == 1 ? v[1] : Value(inner.create<math::SqrtOp>(v[1]));
                               Value zero = scalar::constantLike(inner, norm, 0);
                               Value none = scalar::compare(inner, scalar::Relation::Equal, ElementType::F32,
                                                            norm, zero);
                               // Zeros stay zeros.
                               Value ratio = inner.create<arith::DivFOp>(v[0], norm);
                               return inner.create<arith::SelectOp>(none, zero, ratio);
                             });
  node.setResult(0, floatCast(b, result, element));
  return mlir::success();
}

/// x / (bias + alpha / size * sum of squares of the neighbouring channels) ^ beta
mlir::LogicalResult buildLRN(NodeContext &node) {
  int64_t size = node.intAttribute("size", 0);
  if (failed(requireFloats(node, 2)))
    return mlir::failure();
  // Each neighbour is a term of its own.
  constexpr int64_t kMostNeighbours = 256;
  if (size < 1 || size > std::min(node.shape(0)[1] * 2 + 1, kMostNeighbours))
    return node.fail("size is " + llvm::Twine(size) + ", expected 1 to " + llvm::Twine(kMostNeighbours) +
                     " and not more than there are channels on both sides");
  double alpha = node.floatAttribute("alpha", 1e-4f), beta = node.floatAttribute("beta", 0.75);
  double bias = node.floatAttribute("bias", 1);
  Builder &b = node.b;
  Shape shape(node.shape(0)), low(shape.size(), 0), high(shape.size(), 0);
  low[1] = (size - 1) / 2;
  high[1] = size - 1 - low[1];
  mlir::Type element = node.elementType(0), accumulator = accumulatorType(element);
  Value input = floatCast(b, node.input(0), accumulator);
  Value squares = elementwise(b, shape, accumulator, broadcastOperand(b, input, shape),
                              [](Builder &inner, mlir::ValueRange v) { return scalar::mul(inner, v[0], v[0]); });
  Value wide = padded(b, squares, low, high, 0);
  llvm::SmallVector<ElementwiseOperand> operands = {broadcastOperand(b, input, shape)};
  Shape offset(shape.size(), 0), ones(shape.size(), 1);
  for (offset[1] = 0; offset[1] < size; ++offset[1])
    operands.push_back(broadcastOperand(b, sliceOf(b, wide, offset, shape, ones), shape));
  Value result = elementwise(b, shape, accumulator, operands, [&](Builder &inner, mlir::ValueRange v) -> Value {
    Value sum = v[1];
    for (Value next : v.drop_front(2))
      sum = scalar::add(inner, sum, next);
    Value scaled = scalar::mul(inner, sum, scalar::constantLike(inner, sum, alpha / static_cast<double>(size)));
    Value base = scalar::add(inner, scaled, scalar::constantLike(inner, sum, bias));
    Value power = inner.create<math::PowFOp>(base, scalar::constantLike(inner, sum, beta));
    return inner.create<arith::DivFOp>(v[0], power);
  });
  node.setResult(0, floatCast(b, result, element));
  return mlir::success();
}

constexpr OperatorEntry kOperators[] = {
    {"", "GroupNormalization", 18, 3, 3, buildGroupNormalization},
    {"", "InstanceNormalization", 6, 3, 3, buildInstanceNormalization},
    {"", "LRN", 1, 1, 1, buildLRN},
    {"", "LayerNormalization", 1, 2, 3, buildLayerNormalization},
    {"", "LpNormalization", 1, 1, 1, buildLpNormalization},
    {"", "MeanVarianceNormalization", 9, 1, 1, buildMeanVarianceNormalization},
    {"", "RMSNormalization", 23, 2, 2, buildRMSNormalization},
};

} // namespace

llvm::ArrayRef<OperatorEntry> statisticsOperators() { return kOperators; }

} // namespace autotune
