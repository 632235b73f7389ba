// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// com.microsoft's products of quantised matrices whose result is, or may be, floats.
#include "frontend/MatMul.h"
#include "frontend/OperatorTable.h"
#include "frontend/Quantization.h"
#include "frontend/QuantizedContraction.h"
#include "frontend/Scalar.h"

namespace autotune {

using mlir::Value;

namespace {

/// A bias for each column, if there is one.
mlir::LogicalResult checkBias(NodeContext &node, size_t bias, int64_t columns, ElementType type) {
  if (!node.hasInput(bias) ||
      (node.shape(bias) == llvm::ArrayRef<int64_t>(columns) && node.type(bias) == type))
    return mlir::success();
  return node.fail("bias is " + spelling(node.type(bias)) + " of shape " + shapeText(node.shape(bias)) +
                   ", expected " + llvm::Twine(columns) + " of " + spelling(type));
}

/// sums * (left scale * right scale) (+ bias) as f32
Value scaledSums(NodeContext &node, Value sums, ElementwiseOperand leftScale, ElementwiseOperand rightScale,
                 size_t bias) {
  Shape shape(shapeOf(sums));
  llvm::SmallVector<ElementwiseOperand> operands = {broadcastOperand(node.b, sums, shape), leftScale,
                                                    rightScale};
  bool hasBias = node.hasInput(bias);
  if (hasBias)
    operands.push_back(broadcastOperand(node, bias, shape));
  return elementwise(node.b, shape, node.b.getF32Type(), operands, [&](Builder &b, mlir::ValueRange v) {
    Value number = scalar::cast(b, v[0], ElementType::I32, ElementType::F32);
    Value product = scalar::mul(b, number, scalar::mul(b, v[1], v[2]));
    return hasBias ? scalar::add(b, product, v[3]) : product;
  });
}

/// A, B, A scale, B scale, A zero, B zero, bias
mlir::LogicalResult buildMatMulIntegerToFloat(NodeContext &node) {
  mlir::FailureOr<IntegerProduct> product = integerProduct(node, {0, 1, 4, 5, 2, 3});
  if (failed(product) || failed(checkBias(node, 6, node.shape(1).back(), ElementType::F32)))
    return mlir::failure();
  Shape shape(shapeOf(product->sums));
  node.setResult(0,
                 scaledSums(node, product->sums, parameterOperand(node, 2, product->scales.leftAs, shape),
                            parameterOperand(node, 3, product->scales.rightAs, shape), 6),
                 ElementType::F32);
  return mlir::success();
}

/// A (f32, quantised here), B, B scale, B zero, bias
mlir::LogicalResult buildDynamicQuantizeMatMul(NodeContext &node) {
  if (node.type(0) != ElementType::F32 || !isByte(node.type(1)) || node.type(2) != ElementType::F32)
    return node.fail("operands are " + spelling(node.type(0)) + ", " + spelling(node.type(1)) + " and " +
                     spelling(node.type(2)) + ", expected f32, 8-bit integers and f32");
  mlir::FailureOr<Shape> scaleAs = matrixParameterShape(node, 2, 1, /*isLeft=*/false);
  mlir::FailureOr<Shape> zeroAs = matrixParameterShape(node, 3, 1, /*isLeft=*/false);
  if (failed(scaleAs) || failed(zeroAs))
    return mlir::failure();
  if (node.hasInput(3) && node.type(3) != node.type(1))
    return node.fail("B's zero point is " + spelling(node.type(3)) + ", expected " + spelling(node.type(1)));
  Builder &b = node.b;
  Value input = node.input(0);
  Shape inputShape(node.shape(0));
  DynamicQuantization parameters = dynamicQuantization(b, input);
  Value bytes = dynamicallyQuantized(b, input, parameters);
  Value left = elementwise(
      b, inputShape, b.getI32Type(),
      {broadcastOperand(b, bytes, inputShape), broadcastOperand(b, parameters.zeroPoint, inputShape)},
      [](Builder &inner, mlir::ValueRange v) {
        return scalar::sub(inner, scalar::cast(inner, v[0], ElementType::U8, ElementType::I32),
                           scalar::cast(inner, v[1], ElementType::U8, ElementType::I32));
      });
  mlir::FailureOr<Value> sums = matrixProduct(node, left, centered(node, 1, 3, *zeroAs), b.getI32Type());
  if (failed(sums) || failed(checkBias(node, 4, node.shape(1).back(), ElementType::F32)))
    return mlir::failure();
  Shape shape(shapeOf(*sums));
  node.setResult(0,
                 scaledSums(node, *sums, broadcastOperand(b, parameters.scale, shape),
                            parameterOperand(node, 2, *scaleAs, shape), 4),
                 ElementType::F32);
  return mlir::success();
}

constexpr OperatorEntry kOperators[] = {
    {"com.microsoft", "DynamicQuantizeMatMul", 1, 3, 5, buildDynamicQuantizeMatMul},
    {"com.microsoft", "MatMulIntegerToFloat", 1, 4, 7, buildMatMulIntegerToFloat},
};

} // namespace

llvm::ArrayRef<OperatorEntry> quantizedMatMulOperators() { return kOperators; }

} // namespace autotune
