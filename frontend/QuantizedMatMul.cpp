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

/// A matrix operand, centred and transposed: at import when it is known.
Value gemmSide(NodeContext &node, size_t index, size_t zeroPoint, llvm::ArrayRef<int64_t> as,
               bool transpose) {
  std::optional<ConstantTensor> known = centeredConstant(node, index, zeroPoint, as);
  if (known && transpose)
    return node.materialize(known->transposed({1, 0}));
  Value side = centered(node, index, zeroPoint, as);
  return transpose ? transposed(node.b, side, {1, 0}) : side;
}

/// What QGemm requires of its operands; `columns` is the number of those of the product.
mlir::LogicalResult checkQGemm(NodeContext &node, int64_t columns) {
  for (size_t index : {0, 3})
    if (!isByte(node.type(index)))
      return node.fail("input " + llvm::Twine(index) + " is " + spelling(node.type(index)) +
                       ", expected 8-bit integers");
  for (size_t index : {1, 2, 4, 5, 7, 8}) {
    if (!node.hasInput(index))
      continue;
    bool isScale = index % 3 == 1, isColumns = index == 4 || index == 5;
    bool one = elementCount(node.shape(index)) == 1;
    bool each = isColumns && node.shape(index) == llvm::ArrayRef<int64_t>(columns);
    ElementType type = isScale ? ElementType::F32 : node.type(index == 8 ? 8 : index - 2);
    if ((!one && !each) || node.type(index) != type || (index == 8 && !isByte(type)))
      return node.fail((isScale ? "scale (input " : "zero point (input ") + llvm::Twine(index) + ") is " +
                       spelling(node.type(index)) + " of shape " + shapeText(node.shape(index)));
  }
  if (node.hasInput(7) != node.hasInput(8))
    return node.fail("the result's scale and zero point are given only together");
  return mlir::success();
}

/// A, A scale, A zero, B, B scale, B zero, C (i32), Y scale, Y zero: floats without the last two
mlir::LogicalResult buildQGemm(NodeContext &node) {
  bool transA = node.intAttribute("transA", 0) != 0, transB = node.intAttribute("transB", 0) != 0;
  double alpha = node.floatAttribute("alpha", 1);
  if (node.rank(0) != 2 || node.rank(3) != 2)
    return node.fail("operands " + shapeText(node.shape(0)) + " and " + shapeText(node.shape(3)) +
                     ", expected matrices");
  int64_t columns = node.shape(3)[transB ? 0 : 1];
  if (node.failedAlready() || failed(checkQGemm(node, columns)))
    return mlir::failure();
  Shape zeroAs = transB ? Shape{columns, 1} : Shape{columns};
  Builder &b = node.b;
  mlir::FailureOr<Value> sums = matrixProduct(node, gemmSide(node, 0, 2, {}, transA),
                                              gemmSide(node, 3, 5, zeroAs, transB), b.getI32Type());
  if (failed(sums))
    return mlir::failure();
  Shape shape(shapeOf(*sums));
  llvm::SmallVector<ElementwiseOperand> operands = {broadcastOperand(b, *sums, shape),
                                                    parameterOperand(node, 1, {}, shape),
                                                    parameterOperand(node, 4, columns, shape)};
  bool hasBias = node.hasInput(6), isQuantized = node.hasInput(7);
  if (hasBias) {
    std::optional<Shape> joined = broadcastShape(shape, node.shape(6));
    if (!joined || *joined != shape || node.type(6) != ElementType::I32)
      return node.fail("C is " + spelling(node.type(6)) + " of shape " + shapeText(node.shape(6)) +
                       ", expected i32 that broadcasts to " + shapeText(shape));
    operands.push_back(broadcastOperand(node, 6, shape));
  }
  if (isQuantized) {
    operands.push_back(parameterOperand(node, 7, {}, shape));
    operands.push_back(parameterOperand(node, 8, {}, shape));
  }
  ElementType type = isQuantized ? node.type(8) : ElementType::F32;
  auto body = [&](Builder &inner, mlir::ValueRange v) -> Value {
    Value sum = hasBias ? scalar::add(inner, v[0], v[3]) : v[0];
    Value number = scalar::cast(inner, sum, ElementType::I32, ElementType::F32);
    Value factor =
        scalar::mul(inner, scalar::mul(inner, scalar::constantLike(inner, v[1], alpha), v[1]), v[2]);
    if (!isQuantized)
      return scalar::mul(inner, number, factor);
    factor = inner.create<mlir::arith::DivFOp>(factor, v[v.size() - 2]);
    return roundedTo(inner, scalar::mul(inner, number, factor), v.back(), type);
  };
  node.setResult(0, elementwise(b, shape, node.mlirType(type), operands, body), type);
  return mlir::success();
}

constexpr OperatorEntry kOperators[] = {
    {"com.microsoft", "DynamicQuantizeMatMul", 1, 3, 5, buildDynamicQuantizeMatMul},
    {"com.microsoft", "MatMulIntegerToFloat", 1, 4, 7, buildMatMulIntegerToFloat},
    {"com.microsoft", "QGemm", 1, 6, 9, buildQGemm},
};

} // namespace

llvm::ArrayRef<OperatorEntry> quantizedMatMulOperators() { return kOperators; }

} // namespace autotune
