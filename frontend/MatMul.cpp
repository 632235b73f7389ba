// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MatMul and Gemm: as few and as plain contractions as the shapes allow.
#include "frontend/MatMul.h"

#include "frontend/OperandTypes.h"
#include "frontend/OperatorTable.h"
#include "frontend/Scalar.h"

namespace autotune {

namespace arith = mlir::arith;
using mlir::Value;

namespace {

mlir::LogicalResult requireNumbers(NodeContext &node) {
  ElementType type = node.type(0);
  if (type == ElementType::Bool || node.type(1) != type)
    return node.fail("operands are " + spelling(type) + " and " + spelling(node.type(1)) +
                     ", expected numbers of one type");
  return mlir::success();
}

/// [M,K] x [K,N]
Value emitMatMul(Builder &b, Value x, Value y, mlir::Type accumulator) {
  Value init = zeroTensor(b, {shapeOf(x)[0], shapeOf(y)[1]}, accumulator);
  return b.create<mlir::linalg::MatmulOp>(mlir::ValueRange{x, y}, mlir::ValueRange{init}).getResult(0);
}

/// [B,M,K] x [B,K,N]
Value emitBatchMatMul(Builder &b, Value x, Value y, mlir::Type accumulator) {
  Value init = zeroTensor(b, {shapeOf(x)[0], shapeOf(x)[1], shapeOf(y)[2]}, accumulator);
  return b.create<mlir::linalg::BatchMatmulOp>(mlir::ValueRange{x, y}, mlir::ValueRange{init}).getResult(0);
}

/// Repeats a tensor along the batch dimensions in which it has size 1, then collapses those to one.
Value collapsedBatch(Builder &b, Value tensor, llvm::ArrayRef<int64_t> batch) {
  llvm::ArrayRef<int64_t> matrix = shapeOf(tensor).take_back(2);
  Shape full(batch);
  full.append(matrix.begin(), matrix.end());
  if (shapeOf(tensor).drop_back(2) != batch && elementCount(full) != elementCount(shapeOf(tensor)))
    tensor = elementwise(b, full, elementOf(tensor), broadcastOperand(b, tensor, full),
                         [](Builder &, mlir::ValueRange v) { return v[0]; });
  return reshapeTo(b, tensor, {elementCount(batch), matrix[0], matrix[1]});
}

} // namespace

mlir::FailureOr<Value> matrixProduct(NodeContext &node, Value x, Value y, mlir::Type accumulator) {
  Builder &b = node.b;
  Shape left(shapeOf(x)), right(shapeOf(y));
  std::string shapes = shapeText(left) + " and " + shapeText(right);
  if (left.empty() || right.empty())
    return node.fail("operands " + shapes + ", expected rank 1 or more");
  // A vector is a row on the left and a column on the right; that dimension is dropped from the result.
  bool row = left.size() == 1, column = right.size() == 1;
  if (row)
    left.insert(left.begin(), 1);
  if (column)
    right.push_back(1);
  llvm::ArrayRef<int64_t> leftBatch = llvm::ArrayRef<int64_t>(left).drop_back(2);
  llvm::ArrayRef<int64_t> rightBatch = llvm::ArrayRef<int64_t>(right).drop_back(2);
  int64_t rows = left[left.size() - 2], inner = left.back(), columns = right.back();
  std::optional<Shape> batch = broadcastShape(leftBatch, rightBatch);
  if (!batch || right[right.size() - 2] != inner)
    return node.fail("operands " + shapes + " do not fit");
  Value result;
  if (elementCount(rightBatch) == 1)
    result = emitMatMul(b, reshapeTo(b, x, {elementCount(leftBatch) * rows, inner}),
                        reshapeTo(b, y, {inner, columns}), accumulator);
  else
    result = emitBatchMatMul(b, collapsedBatch(b, reshapeTo(b, x, left), *batch),
                             collapsedBatch(b, reshapeTo(b, y, right), *batch), accumulator);
  Shape shape = *batch;
  if (!row)
    shape.push_back(rows);
  if (!column)
    shape.push_back(columns);
  return reshapeTo(b, result, shape);
}

namespace {

mlir::LogicalResult buildMatMul(NodeContext &node) {
  if (failed(requireNumbers(node)))
    return mlir::failure();
  mlir::Type element = node.elementType(0);
  mlir::FailureOr<Value> product =
      matrixProduct(node, node.input(0), node.input(1), accumulatorType(element));
  if (failed(product))
    return mlir::failure();
  node.setResult(0, floatCast(node.b, *product, element));
  return mlir::success();
}

/// The operand as a matrix to be multiplied, transposed and scaled: at import when it is known.
Value gemmOperand(NodeContext &node, size_t index, bool transpose, double &scale) {
  const ConstantTensor *constant = node.constant(index);
  if (!constant || (!transpose && scale == 1)) {
    Value value = node.input(index);
    return transpose ? transposed(node.b, value, {1, 0}) : value;
  }
  ConstantTensor folded = transpose ? constant->transposed({1, 0}) : *constant;
  if (scale != 1 && isFloat(folded.type()) && succeeded(node.spend(folded.size()))) {
    unsigned width = byteSize(folded.type());
    std::vector<char> bytes(folded.size() * width);
    for (int64_t i = 0, e = folded.size(); i < e; ++i)
      storeFloat(bytes.data() + i * width, folded.type(), folded.floatAt(i) * scale);
    folded = ConstantTensor::own(folded.type(), folded.shape(), std::move(bytes));
    scale = 1;
  }
  return node.materialize(folded);
}

Value scaled(Builder &b, Value tensor, double factor) {
  if (factor == 1)
    return tensor;
  llvm::ArrayRef<int64_t> shape = shapeOf(tensor);
  return elementwise(b, shape, elementOf(tensor), broadcastOperand(b, tensor, shape),
                     [&](Builder &inner, mlir::ValueRange v) {
                       return scalar::mul(inner, v[0], scalar::constantLike(inner, v[0], factor));
                     });
}

mlir::LogicalResult addGemmBias(NodeContext &node, Value &result) {
  double beta = node.floatAttribute("beta", 1);
  if (!node.hasInput(2) || beta == 0)
    return mlir::success();
  llvm::ArrayRef<int64_t> shape = shapeOf(result);
  std::optional<Shape> joined = broadcastShape(shape, node.shape(2));
  if (!joined || llvm::ArrayRef<int64_t>(*joined) != shape)
    return node.fail("C of shape " + shapeText(node.shape(2)) + " does not broadcast to " + shapeText(shape));
  ElementwiseOperand bias;
  if (node.constant(2) && beta != 1)
    bias = broadcastOperand(node.b, gemmOperand(node, 2, /*transpose=*/false, beta), shape);
  else
    bias = broadcastOperand(node, 2, shape);
  result = elementwise(node.b, shape, elementOf(result), {broadcastOperand(node.b, result, shape), bias},
                       [&](Builder &b, mlir::ValueRange v) {
                         Value addend = v[1];
                         if (beta != 1)
                           addend = scalar::mul(b, addend, scalar::constantLike(b, addend, beta));
                         return scalar::add(b, v[0], addend);
                       });
  return mlir::success();
}

} // namespace

mlir::FailureOr<Value> gemmProduct(NodeContext &node) {
  if (failed(requireNumbers(node)))
    return mlir::failure();
  if (node.rank(0) != 2 || node.rank(1) != 2)
    return node.fail("operands " + shapeText(node.shape(0)) + " and " + shapeText(node.shape(1)) +
                     ", expected matrices");
  bool transposeA = node.intAttribute("transA", 0), transposeB = node.intAttribute("transB", 0);
  int64_t innerA = node.shape(0)[transposeA ? 0 : 1], innerB = node.shape(1)[transposeB ? 1 : 0];
  if (innerA != innerB)
    return node.fail("operands " + shapeText(node.shape(0)) + " and " + shapeText(node.shape(1)) +
                     " do not fit");
  double alpha = node.floatAttribute("alpha", 1), one = 1;
  Value x = gemmOperand(node, 0, transposeA, node.constant(1) ? one : alpha);
  Value y = gemmOperand(node, 1, transposeB, alpha);
  mlir::Type element = node.elementType(0);
  Value product = floatCast(node.b, emitMatMul(node.b, x, y, accumulatorType(element)), element);
  Value result = scaled(node.b, product, alpha);
  if (failed(addGemmBias(node, result)))
    return mlir::failure();
  return result;
}

namespace {

mlir::LogicalResult buildGemm(NodeContext &node) {
  if (failed(requireTypeOfFirst(node, {1, 2})))
    return mlir::failure();
  mlir::FailureOr<Value> result = gemmProduct(node);
  if (failed(result))
    return mlir::failure();
  node.setResult(0, *result);
  return mlir::success();
}

constexpr OperatorEntry kOperators[] = {
    {"", "Gemm", 7, 2, 3, buildGemm},
    {"", "MatMul", 1, 2, 2, buildMatMul},
};

} // namespace

llvm::ArrayRef<OperatorEntry> matMulOperators() { return kOperators; }

} // namespace autotune
