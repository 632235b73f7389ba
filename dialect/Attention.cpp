// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// autotune.attention: what is valid, and the op in linalg.
#include "dialect/AutotuneDialect.h"
#include "dialect/Decompose.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

namespace autotune {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
using mlir::Value;

namespace {

int64_t productOf(llvm::ArrayRef<int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<int64_t>());
}

Shape joined(llvm::ArrayRef<int64_t> outer, std::initializer_list<int64_t> inner) {
  Shape shape(outer);
  shape.append(inner.begin(), inner.end());
  return shape;
}

/// Columns become rows; a transposition that is there already is composed with this one.
Value transposedMatrices(Builder &b, Value tensor) {
  auto permutation = llvm::to_vector(llvm::seq<int64_t>(0, shapeOf(tensor).size()));
  std::swap(permutation[permutation.size() - 2], permutation.back());
  if (auto before = tensor.getDefiningOp<linalg::TransposeOp>()) {
    for (int64_t &axis : permutation)
      axis = before.getPermutation()[axis];
    tensor = before.getInput();
  }
  return transposed(b, tensor, permutation);
}

/// [batch, rows, inner] x [batch, inner, columns], summed in `accumulator`.
Value product(Builder &b, Value x, Value y, mlir::Type accumulator) {
  llvm::ArrayRef<int64_t> left = shapeOf(x), right = shapeOf(y);
  if (left[0] == 1) {
    Value init = zeroTensor(b, {left[1], right[2]}, accumulator);
    mlir::ValueRange operands = {reshapeTo(b, x, {left[1], left[2]}), reshapeTo(b, y, {right[1], right[2]})};
    return b.create<linalg::MatmulOp>(operands, init).getResult(0);
  }
  Value init = zeroTensor(b, {left[0], left[1], right[2]}, accumulator);
  return b.create<linalg::BatchMatmulOp>(mlir::ValueRange{x, y}, mlir::ValueRange{init}).getResult(0);
}

/// 0 where row i may read column j, `fill` elsewhere.
Value causalBias(Builder &b, int64_t rows, int64_t columns, int64_t offset, double fill, mlir::Type element) {
  auto type = mlir::RankedTensorType::get({rows, columns}, element);
  llvm::APFloat zero = b.getFloatAttr(element, 0).getValue();
  llvm::APFloat none = b.getFloatAttr(element, fill).getValue();
  llvm::SmallVector<llvm::APFloat, 0> values;
  values.reserve(rows * columns);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      values.push_back(j <= i + offset ? zero : none);
  return b.create<arith::ConstantOp>(mlir::DenseElementsAttr::get(type, values));
}

using Order = std::optional<llvm::ArrayRef<int64_t>>;

llvm::SmallVector<int64_t> shapeInOrder(Value tensor, Order order) {
  llvm::SmallVector<int64_t> shape(shapeOf(tensor));
  if (order)
    for (auto [axis, place] : llvm::enumerate(*order))
      shape[axis] = shapeOf(tensor)[place];
  return shape;
}

/// The tensor with its axes in the order of the description.
Value fromOrder(Builder &b, Value tensor, Order order) {
  return order ? transposed(b, tensor, *order) : tensor;
}

Value toOrder(Builder &b, Value tensor, Order order) {
  if (!order)
    return tensor;
  llvm::SmallVector<int64_t> inverse(order->size());
  for (auto [axis, place] : llvm::enumerate(*order))
    inverse[place] = static_cast<int64_t>(axis);
  return transposed(b, tensor, inverse);
}

mlir::LogicalResult verifyOrders(AttentionOp op) {
  auto rank = static_cast<int64_t>(shapeOf(op.getQuery()).size());
  for (Order order : {op.getQueryOrder(), op.getKeyOrder(), op.getValueOrder(), op.getResultOrder()}) {
    llvm::SmallVector<int64_t> sorted;
    if (order)
      sorted.assign(order->begin(), order->end());
    llvm::sort(sorted);
    if (order && !llvm::equal(sorted, llvm::seq<int64_t>(0, rank)))
      return op.emitOpError("has an order that is no permutation of ") << rank << " axes";
  }
  return mlir::success();
}

mlir::LogicalResult verifyBatch(AttentionOp op, llvm::ArrayRef<int64_t> query,
                                llvm::ArrayRef<int64_t> other) {
  size_t batch = query.size() - 2;
  for (size_t i = 0; i < batch; ++i) {
    bool isHeads = i + 1 == batch;
    if (query[i] == other[i] || (isHeads && other[i] > 0 && query[i] % other[i] == 0))
      continue;
    return op.emitOpError("has query ") << shapeText(query) << " and key or value " << shapeText(other)
                                        << ", expected equal batches (heads may divide those of query)";
  }
  return mlir::success();
}

} // namespace

mlir::LogicalResult AttentionOp::verify() {
  auto typeOf = [](Value value) { return mlir::cast<mlir::RankedTensorType>(value.getType()); };
  int64_t rank = typeOf(getQuery()).getRank();
  if (rank < 2 || typeOf(getKey()).getRank() != rank || typeOf(getValue()).getRank() != rank)
    return emitOpError("has operands of ranks ")
           << rank << ", " << typeOf(getKey()).getRank() << " and " << typeOf(getValue()).getRank()
           << ", expected one rank of 2 or more";
  mlir::Type element = elementOf(getQuery());
  if (elementOf(getKey()) != element || elementOf(getValue()) != element || elementOf(getResult()) != element)
    return emitOpError("expects query, key, value and result of one element type");
  if (failed(verifyOrders(*this)))
    return mlir::failure();
  llvm::SmallVector<int64_t> query = getQueryShape(), key = getKeyShape(), value = getValueShape();
  llvm::ArrayRef<int64_t> shape = query, keyShape = key, valueShape = value;
  if (failed(verifyBatch(*this, shape, keyShape)) || failed(verifyBatch(*this, shape, valueShape)))
    return mlir::failure();
  int64_t columns = keyShape.drop_back().back();
  if (keyShape.drop_back(2) != valueShape.drop_back(2) || key.back() != query.back() ||
      valueShape.drop_back().back() != columns)
    return emitOpError("has query ") << shapeText(shape) << ", key " << shapeText(key) << " and value "
                                     << shapeText(value)
                                     << ", expected [rows, depth], [columns, depth] and [columns, width]";
  Shape scores = joined(shape.drop_back(), {columns});
  Shape expected = joined(shape.drop_back(), {value.back()});
  if (typeOf(getResult()).getRank() != rank ||
      llvm::ArrayRef<int64_t>(shapeInOrder(getResult(), getResultOrder())) !=
          llvm::ArrayRef<int64_t>(expected))
    return emitOpError("has the result ")
           << getResult().getType() << ", expected the shape " << shapeText(expected);
  for (auto [name, operand] : {std::pair("bias", getBias()), std::pair("mask", getMask())}) {
    if (!operand)
      continue;
    std::optional<Shape> common = broadcastShape(scores, shapeOf(operand));
    if (!common || *common != scores)
      return emitOpError("has the ") << name << " " << operand.getType()
                                     << ", expected one that broadcasts to the scores " << shapeText(scores);
  }
  if (getBias() && elementOf(getBias()) != element)
    return emitOpError("has a bias of ") << elementOf(getBias()) << ", expected " << element;
  if (getFill() && !getMask() && !getCausal())
    return emitOpError("has a fill, but neither a mask nor causal");
  return mlir::success();
}

llvm::SmallVector<int64_t> AttentionOp::getQueryShape() { return shapeInOrder(getQuery(), getQueryOrder()); }
llvm::SmallVector<int64_t> AttentionOp::getKeyShape() { return shapeInOrder(getKey(), getKeyOrder()); }
llvm::SmallVector<int64_t> AttentionOp::getValueShape() { return shapeInOrder(getValue(), getValueOrder()); }

double AttentionOp::getFillValue() {
  return getFill() ? getFill()->convertToDouble() : -std::numeric_limits<double>::infinity();
}

namespace {

/// scores * scale with bias and masks. The scores themselves when there is nothing to do.
Value maskedScores(AttentionOp op, Builder &b, Value scores) {
  Shape shape(shapeOf(scores));
  mlir::Type type = elementOf(scores);
  llvm::SmallVector<ElementwiseOperand> operands = {broadcastOperand(b, scores, shape)};
  double scale = op.getScale().convertToDouble();
  llvm::SmallVector<Value> addends;
  if (op.getBias())
    addends.push_back(op.getBias());
  if (op.getCausal())
    addends.push_back(
        causalBias(b, shape[shape.size() - 2], shape.back(), *op.getCausal(), op.getFillValue(), type));
  for (Value addend : addends)
    operands.push_back(foldedOperand(b, addend, shape));
  if (op.getMask())
    operands.push_back(foldedOperand(b, op.getMask(), shape));
  if (scale == 1 && operands.size() == 1)
    return scores;
  return elementwise(b, shape, type, operands, [&](Builder &inner, mlir::ValueRange v) -> Value {
    Value score = v[0];
    if (scale != 1)
      score = inner.create<arith::MulFOp>(score, scalarConstant(inner, type, scale));
    for (Value addend : v.slice(1, addends.size())) {
      if (addend.getType() != type)
        addend = inner.create<arith::ExtFOp>(type, addend);
      score = inner.create<arith::AddFOp>(score, addend);
    }
    if (!op.getMask())
      return score;
    return inner.create<arith::SelectOp>(v.back(), score, scalarConstant(inner, type, op.getFillValue()));
  });
}

} // namespace

mlir::FailureOr<llvm::SmallVector<Value>> AttentionOp::decomposeOperation(mlir::OpBuilder &builder) {
  Builder b(getLoc(), builder);
  llvm::SmallVector<int64_t> query = getQueryShape(), key = getKeyShape(), value = getValueShape();
  mlir::Type element = elementOf(getQuery()), wide = accumulatorType(element);
  llvm::ArrayRef<int64_t> outer = llvm::ArrayRef<int64_t>(query).drop_back(2);
  // Heads of query that share a head of key are neighbours: together they are rows of one matrix.
  int64_t batch = productOf(llvm::ArrayRef<int64_t>(key).drop_back(2)), depth = query.back(),
          width = value.back();
  int64_t rows = query[query.size() - 2], columns = key[key.size() - 2];
  int64_t rowsOfMatrix = batch ? productOf(outer) / batch * rows : rows;
  Value keys =
      reshapeTo(b, transposedMatrices(b, fromOrder(b, getKey(), getKeyOrder())), {batch, depth, columns});
  Value queries = fromOrder(b, getQuery(), getQueryOrder()),
        values = fromOrder(b, getValue(), getValueOrder());
  Value scores = product(b, reshapeTo(b, queries, {batch, rowsOfMatrix, depth}), keys, wide);
  scores = maskedScores(*this, b, reshapeTo(b, scores, joined(outer, {rows, columns})));
  Value weights = softmaxInPieces(b, scores, shapeOf(scores).size() - 1);
  weights = reshapeTo(b, floatCast(b, weights, element), {batch, rowsOfMatrix, columns});
  Value result = product(b, weights, reshapeTo(b, values, {batch, columns, width}), wide);
  result = reshapeTo(b, floatCast(b, result, element), joined(outer, {rows, width}));
  return llvm::SmallVector<Value>{toOrder(b, result, getResultOrder())};
}

} // namespace autotune
