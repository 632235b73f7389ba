// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions and matrix products of 8-bit integers: i32 contractions of the centred operands.
#include "frontend/QuantizedContraction.h"

#include "frontend/Convolution.h"
#include "frontend/MatMul.h"
#include "frontend/OperatorTable.h"
#include "frontend/Quantization.h"
#include "frontend/Scalar.h"

namespace autotune {

using mlir::Value;

namespace {

mlir::LogicalResult requireBytes(NodeContext &node, size_t x, size_t y) {
  if (isByte(node.type(x)) && isByte(node.type(y)))
    return mlir::success();
  return node.fail("operands are " + spelling(node.type(x)) + " and " + spelling(node.type(y)) +
                   ", expected 8-bit integers");
}

/// One value, or one for each of `count` positions.
mlir::LogicalResult requireOneOrEach(NodeContext &node, size_t index, int64_t count) {
  if (!node.hasInput(index) || elementCount(node.shape(index)) == 1 ||
      (node.rank(index) == 1 && node.shape(index)[0] == count))
    return mlir::success();
  return node.fail("input " + llvm::Twine(index) + " of shape " + shapeText(node.shape(index)) +
                   ", expected one value or " + llvm::Twine(count));
}

mlir::LogicalResult requireOne(NodeContext &node, std::initializer_list<size_t> operands) {
  for (size_t index : operands)
    if (failed(requireOneOrEach(node, index, 1)))
      return mlir::failure();
  return mlir::success();
}

mlir::LogicalResult requireZeroType(NodeContext &node, size_t zeroPoint, size_t tensor) {
  if (!node.hasInput(zeroPoint) || node.type(zeroPoint) == node.type(tensor))
    return mlir::success();
  return node.fail("zero point (input " + llvm::Twine(zeroPoint) + ") is " + spelling(node.type(zeroPoint)) +
                   ", expected " + spelling(node.type(tensor)) + " like input " + llvm::Twine(tensor));
}

mlir::LogicalResult requireScales(NodeContext &node, std::initializer_list<size_t> scales) {
  for (size_t index : scales)
    if (node.type(index) != ElementType::F32)
      return node.fail("scale (input " + llvm::Twine(index) + ") is " + spelling(node.type(index)) +
                       ", expected f32");
  return mlir::success();
}

/// i32 sums of a convolution; the shape in which values for each filter broadcast to the result.
struct IntegerConvolution {
  Value sums;
  Shape perFilter;
};

mlir::FailureOr<IntegerConvolution> integerConvolution(NodeContext &node, size_t input, size_t weight,
                                                       size_t inputZero, size_t weightZero) {
  if (failed(requireBytes(node, input, weight)) || failed(requireOne(node, {inputZero})) ||
      failed(requireZeroType(node, inputZero, input)) || failed(requireZeroType(node, weightZero, weight)))
    return mlir::failure();
  mlir::FailureOr<Convolution> conv = readConvolution(node, input, weight);
  if (failed(conv) || failed(requireOneOrEach(node, weightZero, conv->spec.filters)))
    return mlir::failure();
  Builder &b = node.b;
  conv->spec.accumulator = b.getI32Type();
  int64_t rank = node.rank(input), filters = conv->spec.filters;
  // Padding stands for the zero point, which is 0 after centring.
  Value x = padded(b, centered(node, input, inputZero, {}), withLeadingZeros(conv->window.padLow),
                   withLeadingZeros(conv->window.padHigh), 0);
  Value w = centered(node, weight, weightZero, alongAxisShape(filters, 0, rank));
  Value sums = emitConvolution(b, conv->spec, x,
                               [&](llvm::ArrayRef<int64_t> shape) { return reshapeTo(b, w, shape); });
  return IntegerConvolution{sums, alongAxisShape(filters, 1, rank)};
}

/// Sums times x scale * w scale / y scale, rounded to the type of the output's zero point.
Value requantized(NodeContext &node, Value sums, const ContractionScales &scales, QuantParameters output) {
  Shape shape(shapeOf(sums));
  ElementType type = node.type(output.zeroPoint);
  llvm::SmallVector<ElementwiseOperand> operands = {
      broadcastOperand(node.b, sums, shape), parameterOperand(node, scales.left, scales.leftAs, shape),
      parameterOperand(node, scales.right, scales.rightAs, shape),
      parameterOperand(node, output.scale, {}, shape), parameterOperand(node, output.zeroPoint, {}, shape)};
  return elementwise(node.b, shape, node.mlirType(type), operands, [&](Builder &b, mlir::ValueRange v) {
    Value factor = b.create<mlir::arith::DivFOp>(scalar::mul(b, v[1], v[2]), v[3]);
    Value number = scalar::cast(b, v[0], ElementType::I32, ElementType::F32);
    return roundedTo(b, scalar::mul(b, number, factor), v[4], type);
  });
}

mlir::LogicalResult buildConvInteger(NodeContext &node) {
  mlir::FailureOr<IntegerConvolution> conv = integerConvolution(node, 0, 1, 2, 3);
  if (failed(conv))
    return mlir::failure();
  node.setResult(0, conv->sums, ElementType::I32);
  return mlir::success();
}

/// x, x scale, x zero, w, w scale, w zero, y scale, y zero, bias
mlir::LogicalResult buildQLinearConv(NodeContext &node) {
  mlir::FailureOr<IntegerConvolution> conv = integerConvolution(node, 0, 3, 2, 5);
  if (failed(conv))
    return mlir::failure();
  if (!isByte(node.type(7)))
    return node.fail("the output's zero point is " + spelling(node.type(7)) + ", expected an 8-bit integer");
  Value sums = conv->sums;
  int64_t filters = node.shape(3)[0];
  if (failed(requireScales(node, {1, 4, 6})) || failed(requireOneOrEach(node, 4, filters)) ||
      failed(requireOne(node, {1, 6, 7})))
    return mlir::failure();
  if (node.hasInput(8)) {
    if (node.shape(8) != llvm::ArrayRef<int64_t>(filters) || node.type(8) != ElementType::I32)
      return node.fail("bias is " + spelling(node.type(8)) + " of shape " + shapeText(node.shape(8)) +
                       ", expected " + llvm::Twine(filters) + " of i32");
    Shape shape(shapeOf(sums));
    sums = elementwise(
        node.b, shape, node.b.getI32Type(),
        {broadcastOperand(node.b, sums, shape), broadcastOperand(node, 8, conv->perFilter, shape)},
        [](Builder &b, mlir::ValueRange v) { return scalar::add(b, v[0], v[1]); });
  }
  node.setResult(0, requantized(node, sums, {1, 4, {}, conv->perFilter}, {6, 7}), node.type(7));
  return mlir::success();
}

} // namespace

mlir::FailureOr<Shape> matrixParameterShape(NodeContext &node, size_t index, size_t operand, bool isLeft) {
  if (!node.hasInput(index) || elementCount(node.shape(index)) == 1)
    return Shape();
  llvm::ArrayRef<int64_t> shape = node.shape(operand), given = node.shape(index);
  Shape whole(shape);
  if (shape.size() >= 2) {
    whole[isLeft ? shape.size() - 1 : shape.size() - 2] = 1;
    int64_t each = isLeft ? shape[shape.size() - 2] : shape.back();
    if (given == llvm::ArrayRef<int64_t>(each))
      return isLeft ? Shape{each, 1} : Shape{each};
    if (given == llvm::ArrayRef<int64_t>(whole))
      return whole;
  }
  return node.fail("input " + llvm::Twine(index) + " of shape " + shapeText(given) +
                   ", expected one value, or one for " + (isLeft ? "each row" : "each column") + " of " +
                   shapeText(shape));
}

namespace {

/// A shape that broadcasts to an operand, as it broadcasts to the product: without the row of a vector on the
/// left, without the column of one on the right.
Shape inProduct(Shape as, int64_t leftRank, int64_t rightRank) {
  if (leftRank == 1 && as.size() >= 2)
    as.erase(as.end() - 2);
  if (rightRank == 1 && !as.empty())
    as.pop_back();
  return as;
}

} // namespace

mlir::FailureOr<IntegerProduct> integerProduct(NodeContext &node, const IntegerOperands &operands) {
  size_t left = operands.left, right = operands.right;
  size_t leftZero = operands.leftZero, rightZero = operands.rightZero;
  mlir::FailureOr<Shape> leftAs = matrixParameterShape(node, leftZero, left, /*isLeft=*/true);
  mlir::FailureOr<Shape> rightAs = matrixParameterShape(node, rightZero, right, /*isLeft=*/false);
  if (failed(requireBytes(node, left, right)) || failed(leftAs) || failed(rightAs) ||
      failed(requireZeroType(node, leftZero, left)) || failed(requireZeroType(node, rightZero, right)))
    return mlir::failure();
  Value x = centered(node, left, leftZero, *leftAs), y = centered(node, right, rightZero, *rightAs);
  mlir::FailureOr<Value> sums = matrixProduct(node, x, y, node.b.getI32Type());
  if (failed(sums))
    return mlir::failure();
  IntegerProduct product{*sums, {operands.leftScale, operands.rightScale, {}, {}}};
  if (operands.leftScale == kNoOperand)
    return product;
  mlir::FailureOr<Shape> leftScaleAs = matrixParameterShape(node, operands.leftScale, left, /*isLeft=*/true);
  mlir::FailureOr<Shape> rightScaleAs =
      matrixParameterShape(node, operands.rightScale, right, /*isLeft=*/false);
  if (failed(leftScaleAs) || failed(rightScaleAs) ||
      failed(requireScales(node, {operands.leftScale, operands.rightScale})))
    return mlir::failure();
  product.scales.leftAs = inProduct(*leftScaleAs, node.rank(left), node.rank(right));
  product.scales.rightAs = inProduct(*rightScaleAs, node.rank(left), node.rank(right));
  return product;
}

namespace {

mlir::LogicalResult buildMatMulInteger(NodeContext &node) {
  mlir::FailureOr<IntegerProduct> product = integerProduct(node, {0, 1, 2, 3, kNoOperand, kNoOperand});
  if (failed(product))
    return mlir::failure();
  node.setResult(0, product->sums, ElementType::I32);
  return mlir::success();
}

/// a, a scale, a zero, b, b scale, b zero, y scale, y zero
mlir::LogicalResult buildQLinearMatMul(NodeContext &node) {
  mlir::FailureOr<IntegerProduct> product = integerProduct(node, {0, 3, 2, 5, 1, 4});
  if (failed(product))
    return mlir::failure();
  if (!isByte(node.type(7)))
    return node.fail("the output's zero point is " + spelling(node.type(7)) + ", expected an 8-bit integer");
  if (failed(requireScales(node, {6})) || failed(requireOne(node, {6, 7})))
    return mlir::failure();
  node.setResult(0, requantized(node, product->sums, product->scales, {6, 7}), node.type(7));
  return mlir::success();
}

constexpr OperatorEntry kOperators[] = {
    {"", "ConvInteger", 10, 2, 4, buildConvInteger},
    {"", "MatMulInteger", 10, 2, 4, buildMatMulInteger},
    {"", "QLinearConv", 10, 8, 9, buildQLinearConv},
    {"", "QLinearMatMul", 10, 8, 8, buildQLinearMatMul},
};

} // namespace

llvm::ArrayRef<OperatorEntry> quantizedContractionOperators() { return kOperators; }

} // namespace autotune
