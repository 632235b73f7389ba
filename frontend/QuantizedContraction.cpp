// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions and matrix products of 8-bit integers: i32 contractions of the centred operands.
#include "frontend/Convolution.h"
#include "frontend/MatMul.h"
#include "frontend/OperatorTable.h"
#include "frontend/Quantization.h"
#include "frontend/Scalar.h"

namespace autotune {

using mlir::Value;

namespace {

bool isByte(ElementType type) { return type == ElementType::I8 || type == ElementType::U8; }

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

mlir::FailureOr<Value> integerConvolution(NodeContext &node, size_t input, size_t weight, size_t inputZero,
                                          size_t weightZero) {
  if (failed(requireBytes(node, input, weight)) || failed(requireOneOrEach(node, inputZero, 1)))
    return mlir::failure();
  mlir::FailureOr<Convolution> conv = readConvolution(node, input, weight);
  if (failed(conv) || failed(requireOneOrEach(node, weightZero, conv->spec.filters)))
    return mlir::failure();
  Builder &b = node.b;
  conv->spec.accumulator = b.getI32Type();
  // Padding stands for the zero point, which is 0 after centring.
  Value x = padded(b, centered(node, input, inputZero, 0), withLeadingZeros(conv->window.padLow),
                   withLeadingZeros(conv->window.padHigh), 0);
  Value w = centered(node, weight, weightZero, 0);
  return emitConvolution(b, conv->spec, x, [&](llvm::ArrayRef<int64_t> shape) { return reshapeTo(b, w, shape); });
}

/// Sums times x scale * w scale / y scale, rounded to the type of the output's zero point.
Value requantized(NodeContext &node, Value sums, size_t xScale, size_t wScale, QuantParameters output, int64_t axis) {
  Shape shape(shapeOf(sums));
  ElementType type = node.type(output.zeroPoint);
  llvm::SmallVector<ElementwiseOperand> operands = {
      broadcastOperand(node.b, sums, shape), parameterOperand(node, xScale, axis, shape),
      parameterOperand(node, wScale, axis, shape), parameterOperand(node, output.scale, axis, shape),
      parameterOperand(node, output.zeroPoint, axis, shape)};
  return elementwise(node.b, shape, node.mlirType(type), operands, [&](Builder &b, mlir::ValueRange v) {
    Value factor = b.create<mlir::arith::DivFOp>(scalar::mul(b, v[1], v[2]), v[3]);
    Value number = scalar::cast(b, v[0], ElementType::I32, ElementType::F32);
    return roundedTo(b, scalar::mul(b, number, factor), v[4], type);
  });
}

mlir::LogicalResult requireScales(NodeContext &node, std::initializer_list<size_t> scales) {
  for (size_t index : scales)
    if (node.type(index) != ElementType::F32)
      return node.fail("scale (input " + llvm::Twine(index) + ") is " + spelling(node.type(index)) + ", expected f32");
  return mlir::success();
}

mlir::LogicalResult buildConvInteger(NodeContext &node) {
  mlir::FailureOr<Value> sums = integerConvolution(node, 0, 1, 2, 3);
  if (failed(sums))
    return mlir::failure();
  node.setResult(0, *sums, ElementType::I32);
  return mlir::success();
}

/// x, x scale, x zero, w, w scale, w zero, y scale, y zero, bias
mlir::LogicalResult buildQLinearConv(NodeContext &node) {
  mlir::FailureOr<Value> convolved = integerConvolution(node, 0, 3, 2, 5);
  if (failed(convolved) || failed(requireScales(node, {1, 4, 6})) || !isByte(node.type(7)))
    return node.fail("the output's zero point is not an 8-bit integer");
  Value sums = *convolved;
  int64_t filters = shapeOf(sums)[1];
  if (failed(requireOneOrEach(node, 4, filters)) || failed(requireOneOrEach(node, 1, 1)) ||
      failed(requireOneOrEach(node, 6, 1)) || failed(requireOneOrEach(node, 7, 1)))
    return mlir::failure();
  if (node.hasInput(8)) {
    if (node.shape(8) != llvm::ArrayRef<int64_t>(filters) || node.type(8) != ElementType::I32)
      return node.fail("bias of shape " + shapeText(node.shape(8)) + ", expected " + llvm::Twine(filters) + " of i32");
    Shape shape(shapeOf(sums));
    sums = elementwise(node.b, shape, node.b.getI32Type(),
                       {broadcastOperand(node.b, sums, shape), alongAxis(node.b, node.input(8), 1, shape.size())},
                       [](Builder &b, mlir::ValueRange v) { return scalar::add(b, v[0], v[1]); });
  }
  node.setResult(0, requantized(node, sums, 1, 4, {6, 7}, 1), node.type(7));
  return mlir::success();
}

/// Zero points for each row of A and column of B are those of their last but one and last axis.
mlir::FailureOr<Value> integerProduct(NodeContext &node, size_t a, size_t c, size_t aZero, size_t cZero) {
  if (failed(requireBytes(node, a, c)))
    return mlir::failure();
  int64_t rows = node.rank(a) < 2 ? 1 : node.shape(a)[node.rank(a) - 2];
  int64_t columns = node.rank(c) < 2 ? 1 : node.shape(c).back();
  if (failed(requireOneOrEach(node, aZero, rows)) || failed(requireOneOrEach(node, cZero, columns)))
    return mlir::failure();
  Value x = centered(node, a, aZero, std::max<int64_t>(node.rank(a) - 2, 0));
  Value y = centered(node, c, cZero, std::max<int64_t>(node.rank(c) - 1, 0));
  return matrixProduct(node, x, y, node.b.getI32Type());
}

mlir::LogicalResult buildMatMulInteger(NodeContext &node) {
  mlir::FailureOr<Value> sums = integerProduct(node, 0, 1, 2, 3);
  if (failed(sums))
    return mlir::failure();
  node.setResult(0, *sums, ElementType::I32);
  return mlir::success();
}

/// a, a scale, a zero, b, b scale, b zero, y scale, y zero
mlir::LogicalResult buildQLinearMatMul(NodeContext &node) {
  mlir::FailureOr<Value> sums = integerProduct(node, 0, 3, 2, 5);
  if (failed(sums) || failed(requireScales(node, {1, 4, 6})))
    return mlir::failure();
  if (!isByte(node.type(7)))
    return node.fail("the output's zero point is not an 8-bit integer");
  int64_t last = std::max<int64_t>(shapeOf(*sums).size(), 1) - 1;
  for (size_t index : {1, 6, 7})
    if (failed(requireOneOrEach(node, index, 1)))
      return mlir::failure();
  if (failed(requireOneOrEach(node, 4, node.shape(3).back())))
    return mlir::failure();
  node.setResult(0, requantized(node, *sums, 1, 4, {6, 7}, last), node.type(7));
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
