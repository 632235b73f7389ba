// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// com.microsoft's quantised functions: to floats, the function, back to 8 bits.
#include "frontend/Normalization.h"
#include "frontend/OperatorTable.h"
#include "frontend/Pooling.h"
#include "frontend/Quantization.h"
#include "frontend/Scalar.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace autotune {

using mlir::Value;

namespace {

/// The type of the result is that of the first quantised operand.
mlir::LogicalResult checkParameters(NodeContext &node, llvm::ArrayRef<size_t> tensors,
                                    llvm::ArrayRef<QuantParameters> parameters) {
  // Zero points may be left out in the middle, so that the number of operands says little.
  for (size_t index : tensors)
    if (!node.hasInput(index))
      return node.fail("input " + llvm::Twine(index) + " is missing");
  for (QuantParameters p : parameters)
    if (!node.hasInput(p.scale))
      return node.fail("scale (input " + llvm::Twine(p.scale) + ") is missing");
  for (size_t index : tensors)
    if (!isByte(node.type(index)))
      return node.fail("input " + llvm::Twine(index) + " is " + spelling(node.type(index)) +
                       ", expected 8-bit integers");
  for (QuantParameters p : parameters)
    if (node.type(p.scale) != ElementType::F32 || elementCount(node.shape(p.scale)) != 1 ||
        (node.hasInput(p.zeroPoint) &&
         (elementCount(node.shape(p.zeroPoint)) != 1 || !isByte(node.type(p.zeroPoint)))))
      return node.fail("scale and zero point (inputs " + llvm::Twine(p.scale) + ", " +
                       llvm::Twine(p.zeroPoint) + ") are not one f32 and one 8-bit integer");
  return mlir::success();
}

void setQuantized(NodeContext &node, Value floats, QuantParameters parameters, ElementType type) {
  node.setResult(0, quantized(node, floats, parameters, type), type);
}

/// A, A scale, A zero, B, B scale, B zero, C scale, C zero
template <Value (*function)(Builder &, Value, Value)> mlir::LogicalResult buildBinary(NodeContext &node) {
  if (failed(checkParameters(node, {0, 3}, {{1, 2}, {4, 5}, {6, 7}})))
    return mlir::failure();
  std::optional<Shape> shape = broadcastShape(node.shape(0), node.shape(3));
  if (!shape)
    return node.fail("operands " + shapeText(node.shape(0)) + " and " + shapeText(node.shape(3)) +
                     " do not broadcast");
  Value x = dequantized(node, 0, {1, 2}), y = dequantized(node, 3, {4, 5});
  Value result = elementwise(node.b, *shape, node.b.getF32Type(),
                             {broadcastOperand(node.b, x, *shape), broadcastOperand(node.b, y, *shape)},
                             [](Builder &b, mlir::ValueRange v) { return function(b, v[0], v[1]); });
  setQuantized(node, result, {6, 7}, node.type(0));
  return mlir::success();
}

mlir::LogicalResult buildUnary(NodeContext &node, llvm::function_ref<Value(Builder &, Value)> function) {
  if (failed(checkParameters(node, {0}, {{1, 2}, {3, 4}})))
    return mlir::failure();
  Shape shape(node.shape(0));
  Value result = elementwise(node.b, shape, node.b.getF32Type(),
                             broadcastOperand(node.b, dequantized(node, 0, {1, 2}), shape),
                             [&](Builder &b, mlir::ValueRange v) { return function(b, v[0]); });
  setQuantized(node, result, {3, 4}, node.type(0));
  return mlir::success();
}

mlir::LogicalResult buildLeakyRelu(NodeContext &node) {
  double alpha = node.floatAttribute("alpha", 0.01);
  return buildUnary(node, [&](Builder &b, Value x) -> Value {
    Value zero = scalar::constantLike(b, x, 0);
    Value negative = scalar::compare(b, scalar::Relation::Less, ElementType::F32, x, zero);
    return b.create<mlir::arith::SelectOp>(negative, scalar::mul(b, x, scalar::constantLike(b, x, alpha)), x);
  });
}

mlir::LogicalResult buildSigmoid(NodeContext &node) { return buildUnary(node, scalar::sigmoid); }

mlir::LogicalResult buildSoftmax(NodeContext &node) {
  if (failed(checkParameters(node, {0}, {{1, 2}, {3, 4}})))
    return mlir::failure();
  int64_t axis = node.axisAttribute("axis", -1, node.rank(0));
  bool coerces = node.intAttribute("opset", 13) < 13;
  if (node.failedAlready())
    return mlir::failure();
  Value result = softmaxed(node.b, dequantized(node, 0, {1, 2}), axis, coerces, /*logarithm=*/false);
  setQuantized(node, result, {3, 4}, node.type(0));
  return mlir::success();
}

llvm::SmallVector<int64_t> rotatedAxes(int64_t rank, bool channelsToFront) {
  llvm::SmallVector<int64_t> axes = {0};
  if (channelsToFront)
    axes.push_back(rank - 1);
  for (int64_t axis = channelsToFront ? 1 : 2; axis < (channelsToFront ? rank - 1 : rank); ++axis)
    axes.push_back(axis);
  if (!channelsToFront)
    axes.push_back(1);
  return axes;
}

template <bool global> mlir::LogicalResult buildAveragePool(NodeContext &node) {
  if (failed(checkParameters(node, {0}, {{1, 2}, {3, 4}})))
    return mlir::failure();
  int64_t rank = node.rank(0);
  if (rank < 3)
    return node.fail("input " + shapeText(node.shape(0)) + ", expected rank 3 or more");
  bool channelsLast = node.intAttribute("channels_last", 0) != 0;
  Value input = dequantized(node, 0, {1, 2});
  if (channelsLast)
    input = transposed(node.b, input, rotatedAxes(rank, true));
  mlir::FailureOr<Value> result =
      global ? mlir::FailureOr(globalAverage(node.b, input)) : averagePooled(node, input);
  if (failed(result))
    return mlir::failure();
  Value pooled = channelsLast ? transposed(node.b, *result, rotatedAxes(rank, false)) : *result;
  setQuantized(node, pooled, {3, 4}, node.type(0));
  return mlir::success();
}

/// Y scale, Y zero, then X, X scale, X zero for each operand
mlir::LogicalResult buildConcat(NodeContext &node) {
  if ((node.inputCount() - 2) % 3 != 0)
    return node.fail(llvm::Twine(node.inputCount()) + " inputs, expected 2 and 3 for each operand");
  int64_t axis = node.axisAttribute("axis", 0, node.rank(2));
  Shape shape(node.shape(2));
  llvm::SmallVector<Value> parts;
  for (size_t i = 2; i < node.inputCount(); i += 3) {
    if (node.failedAlready() || failed(checkParameters(node, {i}, {{i + 1, i + 2}, {0, 1}})))
      return mlir::failure();
    Shape other(node.shape(i));
    if (other.size() != shape.size())
      return node.fail("operands differ in rank");
    other[axis] = shape[axis];
    if (other != shape)
      return node.fail("operand " + llvm::Twine(i) + " of shape " + shapeText(node.shape(i)) +
                       " does not fit " + shapeText(shape));
    parts.push_back(quantized(node, dequantized(node, i, {i + 1, i + 2}), {0, 1}, node.type(2)));
  }
  node.setResult(
      0, parts.size() == 1 ? parts[0] : node.b.create<mlir::tensor::ConcatOp>(axis, parts).getResult(),
      node.type(2));
  return mlir::success();
}

/// data, data scale, data zero, result scale, result zero
mlir::LogicalResult buildReduceMean(NodeContext &node) {
  if (failed(checkParameters(node, {0}, {{1, 2}, {3, 4}})))
    return mlir::failure();
  Shape shape(node.shape(0));
  std::vector<int64_t> axes =
      node.normalizedAxes(node.intsAttribute("axes", firstIntegers(node.rank(0))), node.rank(0));
  bool keepDims = node.intAttribute("keepdims", 1) != 0;
  int64_t count = elementCount(shape) / std::max<int64_t>(elementCount(reducedShape(shape, axes, false)), 1);
  if (node.failedAlready())
    return mlir::failure();
  if (count == 0)
    return node.fail("the mean of no elements is not defined (input " + shapeText(shape) + ")");
  Builder &b = node.b;
  Value sum = reduced(b, dequantized(node, 0, {1, 2}), axes, scalarConstant(b, b.getF32Type(), 0),
                      [](Builder &inner, mlir::ValueRange v) { return scalar::add(inner, v[0], v[1]); });
  Shape kept(shapeOf(sum));
  Value mean = elementwise(b, kept, b.getF32Type(), broadcastOperand(b, sum, kept),
                           [&](Builder &inner, mlir::ValueRange v) -> Value {
                             Value divisor = scalar::constantLike(inner, v[0], static_cast<double>(count));
                             return inner.create<mlir::arith::DivFOp>(v[0], divisor);
                           });
  setQuantized(node, reshapeTo(b, mean, reducedShape(shape, axes, keepDims)), {3, 4}, node.type(0));
  return mlir::success();
}

/// condition, X, X scale, X zero, Y, Y scale, Y zero, Z scale, Z zero
mlir::LogicalResult buildWhere(NodeContext &node) {
  if (failed(checkParameters(node, {1, 4}, {{2, 3}, {5, 6}, {7, 8}})))
    return mlir::failure();
  if (node.type(0) != ElementType::Bool)
    return node.fail("the condition is " + spelling(node.type(0)) + ", expected bool");
  std::optional<Shape> shape = broadcastShape(node.shape(1), node.shape(4));
  if (shape)
    shape = broadcastShape(*shape, node.shape(0));
  if (!shape)
    return node.fail("operands " + shapeText(node.shape(0)) + ", " + shapeText(node.shape(1)) + " and " +
                     shapeText(node.shape(4)) + " do not broadcast");
  Value x = dequantized(node, 1, {2, 3}), y = dequantized(node, 4, {5, 6});
  Value chosen = elementwise(node.b, *shape, node.b.getF32Type(),
                             {broadcastOperand(node, 0, *shape), broadcastOperand(node.b, x, *shape),
                              broadcastOperand(node.b, y, *shape)},
                             [](Builder &b, mlir::ValueRange v) -> Value {
                               return b.create<mlir::arith::SelectOp>(v[0], v[1], v[2]);
                             });
  setQuantized(node, chosen, {7, 8}, node.type(1));
  return mlir::success();
}

constexpr llvm::StringLiteral kDomain("com.microsoft");

const OperatorEntry kOperators[] = {
    {kDomain, "QLinearAdd", 1, 2, 8, buildBinary<scalar::add>},
    {kDomain, "QLinearAveragePool", 1, 2, 5, buildAveragePool<false>},
    {kDomain, "QLinearConcat", 1, 5, kAnyInputs, buildConcat},
    {kDomain, "QLinearGlobalAveragePool", 1, 2, 5, buildAveragePool<true>},
    {kDomain, "QLinearLeakyRelu", 1, 2, 5, buildLeakyRelu},
    {kDomain, "QLinearMul", 1, 2, 8, buildBinary<scalar::mul>},
    {kDomain, "QLinearReduceMean", 1, 2, 5, buildReduceMean},
    {kDomain, "QLinearSigmoid", 1, 2, 5, buildSigmoid},
    {kDomain, "QLinearSoftmax", 1, 2, 5, buildSoftmax},
    {kDomain, "QLinearWhere", 1, 2, 9, buildWhere},
};

} // namespace

llvm::ArrayRef<OperatorEntry> quantizedFunctionOperators() { return kOperators; }

} // namespace autotune
