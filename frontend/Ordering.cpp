// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators along one axis that depend on order: TopK, CumSum, ReverseSequence; and selections of known data.
#include "frontend/OperatorTable.h"
#include "frontend/Scalar.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace autotune {

namespace arith = mlir::arith;
using mlir::Value;
using mlir::utils::IteratorType;

namespace {

/// A generic over `loops`, whose last loop is a reduction.
Value reducedOverLast(Builder &b, llvm::ArrayRef<Value> inputs, llvm::ArrayRef<mlir::AffineMap> maps,
                      Value init, mlir::AffineMap resultMap, ScalarBody body) {
  llvm::SmallVector<mlir::AffineMap> all(maps);
  all.push_back(resultMap);
  llvm::SmallVector<IteratorType> loops(resultMap.getNumDims(), IteratorType::parallel);
  loops.back() = IteratorType::reduction;
  auto build = [&](mlir::OpBuilder &nested, mlir::Location location, mlir::ValueRange v) {
    Builder inner(location, nested);
    inner.create<mlir::linalg::YieldOp>(body(inner, v));
  };
  return b
      .create<mlir::linalg::GenericOp>(mlir::TypeRange{init.getType()}, inputs, mlir::ValueRange{init}, all,
                                       loops, build)
      .getResult(0);
}

Value indexAsI64(Builder &b, int64_t loop) {
  return b.create<arith::IndexCastOp>(b.getI64Type(), b.create<mlir::linalg::IndexOp>(loop));
}

/// The rank of each element in its row is the number of elements that come before it; the k first are picked.
mlir::LogicalResult buildTopK(NodeContext &node) {
  std::optional<std::vector<int64_t>> k = node.version() < 10
                                              ? std::optional(std::vector<int64_t>{node.intAttribute("k", 0)})
                                              : node.constantInts(1);
  int64_t rank = node.rank(0), axis = node.axisAttribute("axis", -1, rank);
  bool largest = node.intAttribute("largest", 1) != 0;
  if (node.failedAlready())
    return mlir::failure();
  Shape shape(node.shape(0));
  if (!k || k->size() != 1 || (*k)[0] < 0 || (*k)[0] > shape[axis])
    return node.fail("k is not one number up to dimension " + llvm::Twine(shape[axis]));
  Builder &b = node.b;
  ElementType type = node.type(0);
  Value input = node.input(0);
  // Loops: the input's dimensions, and one more along the axis.
  llvm::SmallVector<mlir::AffineExpr> own, other;
  for (int64_t i = 0; i < rank; ++i) {
    own.push_back(b.getAffineDimExpr(i));
    other.push_back(b.getAffineDimExpr(i == axis ? rank : i));
  }
  mlir::AffineMap ownMap = mlir::AffineMap::get(rank + 1, 0, own, b.getContext());
  mlir::AffineMap otherMap = mlir::AffineMap::get(rank + 1, 0, other, b.getContext());
  Value ranks = reducedOverLast(
      b, {input, input}, {ownMap, otherMap}, zeroTensor(b, shape, b.getI64Type()), ownMap,
      [&](Builder &inner, mlir::ValueRange v) -> Value {
        using scalar::Relation;
        Value better = scalar::compare(inner, largest ? Relation::Greater : Relation::Less, type, v[1], v[0]);
        Value equal = scalar::compare(inner, Relation::Equal, type, v[1], v[0]);
        Value earlier = inner.create<arith::CmpIOp>(arith::CmpIPredicate::slt, indexAsI64(inner, rank),
                                                    indexAsI64(inner, axis));
        Value before = inner.create<arith::OrIOp>(better, inner.create<arith::AndIOp>(equal, earlier));
        Value one = inner.create<arith::ExtUIOp>(inner.getI64Type(), before);
        return inner.create<arith::AddIOp>(v[2], one);
      });
  Shape picked = shape;
  picked[axis] = (*k)[0];
  auto hit = [&](Builder &inner, Value rankOfOther) -> Value {
    return inner.create<arith::CmpIOp>(arith::CmpIPredicate::eq, rankOfOther, indexAsI64(inner, axis));
  };
  Value values =
      reducedOverLast(b, {input, ranks}, {otherMap, otherMap}, zeroTensor(b, picked, node.elementType(0)),
                      ownMap, [&](Builder &inner, mlir::ValueRange v) -> Value {
                        return inner.create<arith::SelectOp>(hit(inner, v[1]), v[0], v[2]);
                      });
  Value indices =
      reducedOverLast(b, {ranks}, {otherMap}, zeroTensor(b, picked, b.getI64Type()), ownMap,
                      [&](Builder &inner, mlir::ValueRange v) -> Value {
                        return inner.create<arith::SelectOp>(hit(inner, v[0]), indexAsI64(inner, rank), v[1]);
                      });
  node.setResult(0, values, type);
  node.setResult(1, indices, ElementType::I64);
  return mlir::success();
}

/// Doubling distances: each step adds the element 1, 2, 4, … positions before.
mlir::LogicalResult buildCumSum(NodeContext &node) {
  std::optional<std::vector<int64_t>> axes = node.constantInts(1);
  if (node.failedAlready())
    return mlir::failure();
  if (axes->size() != 1)
    return node.fail("the axis is not one number");
  int64_t axis = node.normalizedAxis(axes->front(), node.rank(0));
  bool reverse = node.intAttribute("reverse", 0) != 0, exclusive = node.intAttribute("exclusive", 0) != 0;
  if (node.failedAlready())
    return mlir::failure();
  Builder &b = node.b;
  Shape shape(node.shape(0)), zeros(shape.size(), 0), ones(shape.size(), 1);
  mlir::Type element = node.elementType(0), wide = accumulatorType(element);
  auto shifted = [&](Value tensor, int64_t distance) {
    Shape size = shape, offset = zeros, low = zeros, high = zeros;
    size[axis] -= distance;
    (reverse ? offset : low)[axis] = distance;
    if (reverse)
      high[axis] = distance;
    return padded(b, sliceOf(b, tensor, offset, size, ones), low, high, 0);
  };
  Value sum = floatCast(b, node.input(0), wide);
  if (exclusive && shape[axis] > 0)
    sum = shifted(sum, 1);
  for (int64_t distance = 1; distance < shape[axis]; distance *= 2)
    sum = elementwise(b, shape, wide,
                      {broadcastOperand(b, sum, shape), broadcastOperand(b, shifted(sum, distance), shape)},
                      [](Builder &inner, mlir::ValueRange v) { return scalar::add(inner, v[0], v[1]); });
  node.setResult(0, floatCast(b, sum, element));
  return mlir::success();
}

mlir::LogicalResult buildReverseSequence(NodeContext &node) {
  int64_t rank = node.rank(0);
  int64_t time = node.axisAttribute("time_axis", 0, rank), batch = node.axisAttribute("batch_axis", 1, rank);
  if (node.failedAlready())
    return mlir::failure();
  Shape shape(node.shape(0));
  if (time == batch || node.shape(1) != llvm::ArrayRef<int64_t>(shape[batch]))
    return node.fail("sequence_lens of shape " + shapeText(node.shape(1)) + " do not fit " +
                     shapeText(shape));
  Builder &b = node.b;
  Value source = node.input(0);
  Value result = elementwise(
      b, shape, node.elementType(0), alongAxis(b, node.input(1), batch, rank),
      [&](Builder &inner, mlir::ValueRange v) -> Value {
        llvm::SmallVector<Value> at;
        for (int64_t i = 0; i < rank; ++i)
          at.push_back(inner.create<mlir::linalg::IndexOp>(i));
        Value length = inner.create<arith::IndexCastOp>(inner.getIndexType(), v[0]);
        Value one = inner.create<arith::ConstantIndexOp>(1), zero = inner.create<arith::ConstantIndexOp>(0);
        Value last = inner.create<arith::ConstantIndexOp>(shape[time] - 1);
        Value mirrored = inner.create<arith::SubIOp>(inner.create<arith::SubIOp>(length, one), at[time]);
        Value inside = inner.create<arith::CmpIOp>(arith::CmpIPredicate::slt, at[time], length);
        Value position = inner.create<arith::SelectOp>(inside, mirrored, at[time]);
        at[time] = inner.create<arith::MinSIOp>(inner.create<arith::MaxSIOp>(position, zero), last);
        return inner.create<mlir::tensor::ExtractOp>(source, at);
      });
  node.setResult(0, result);
  return mlir::success();
}

/// The coordinates of the elements that are not zero, one row for each dimension.
mlir::LogicalResult buildNonZero(NodeContext &node) {
  const ConstantTensor *constant = node.constant(0);
  if (!constant)
    return node.fail("the shape of the result depends on the data");
  if (failed(node.spend(constant->size() * std::max<int64_t>(node.rank(0), 1))))
    return mlir::failure();
  std::vector<std::vector<int64_t>> rows(std::max<int64_t>(node.rank(0), 1));
  Shape strides = rowMajorStrides(constant->shape());
  for (int64_t i = 0, e = constant->size(); i < e; ++i) {
    if (constant->floatAt(i) == 0)
      continue;
    if (node.rank(0) == 0)
      rows[0].push_back(0);
    for (int64_t axis = 0; axis < node.rank(0); ++axis)
      rows[axis].push_back(i / strides[axis] % constant->shape()[axis]);
  }
  std::vector<int64_t> flat;
  for (const auto &row : rows)
    flat.insert(flat.end(), row.begin(), row.end());
  node.setResult(0, ConstantTensor::ints(flat).reshaped(
                        {static_cast<int64_t>(rows.size()), static_cast<int64_t>(rows[0].size())}));
  return mlir::success();
}

/// Keeps the slices whose condition is true.
mlir::LogicalResult buildCompress(NodeContext &node) {
  const ConstantTensor *condition = node.constant(1);
  if (!condition)
    return node.fail(
        "the shape of the result depends on the condition (input 1), which is not known at import");
  Shape shape(node.shape(0));
  int64_t axis = 0;
  if (node.hasAttribute("axis"))
    axis = node.axisAttribute("axis", 0, shape.size());
  else
    shape = {elementCount(shape)};
  if (node.failedAlready())
    return mlir::failure();
  Builder &b = node.b;
  Value input = reshapeTo(b, node.input(0), shape);
  llvm::SmallVector<Value> parts;
  Shape offset(shape.size(), 0), size = shape, ones(shape.size(), 1);
  int64_t end = std::min(condition->size(), shape[axis]);
  // Neighbours that are kept are one slice.
  for (int64_t first = 0; first < end; first += std::max<int64_t>(size[axis], 1)) {
    for (size[axis] = 0; first + size[axis] < end && condition->intAt(first + size[axis]);)
      ++size[axis];
    offset[axis] = first;
    if (size[axis] > 0)
      parts.push_back(sliceOf(b, input, offset, size, ones));
    constexpr size_t kMostParts = 4096;
    if (parts.size() > kMostParts)
      return node.fail("the condition keeps more than " + llvm::Twine(kMostParts) + " separate parts");
  }
  if (parts.empty()) {
    size[axis] = 0;
    node.setResult(0, ConstantTensor::own(node.type(0), size, {}));
    return mlir::success();
  }
  node.setResult(0, parts.size() == 1 ? parts[0] : b.create<mlir::tensor::ConcatOp>(axis, parts).getResult());
  return mlir::success();
}

mlir::LogicalResult buildEyeLike(NodeContext &node) {
  if (node.rank(0) != 2)
    return node.fail("input of shape " + shapeText(node.shape(0)) + ", expected a matrix");
  ElementType type = node.type(0);
  if (int64_t code = node.intAttribute("dtype", 0)) {
    std::optional<ElementType> wanted = elementTypeFromOnnx(code);
    if (!wanted)
      return node.fail("dtype " + onnxDataTypeName(code) + " is not supported");
    type = *wanted;
  }
  int64_t rows = node.shape(0)[0], columns = node.shape(0)[1], diagonal = node.intAttribute("k", 0);
  // Beyond the matrix all diagonals are alike.
  diagonal = std::clamp(diagonal, -rows, columns);
  unsigned width = byteSize(type);
  if (!checkedByteCount({rows, columns}, type))
    return node.fail("the shape " + shapeText({rows, columns}) + " is too large");
  if (failed(node.spend(rows * columns)))
    return mlir::failure();
  std::vector<char> bytes(rows * columns * width);
  ConstantTensor one = ConstantTensor::scalar(type, 1);
  for (int64_t row = std::max<int64_t>(0, -diagonal); row < rows && row + diagonal < columns; ++row)
    std::memcpy(bytes.data() + (row * columns + row + diagonal) * width, one.element(0), width);
  node.setResult(0, ConstantTensor::own(type, {rows, columns}, std::move(bytes)));
  return mlir::success();
}

constexpr OperatorEntry kOperators[] = {
    {"", "Compress", 9, 2, 2, buildCompress},
    {"", "CumSum", 11, 2, 2, buildCumSum},
    {"", "EyeLike", 9, 1, 1, buildEyeLike},
    {"", "NonZero", 9, 1, 1, buildNonZero},
    {"", "ReverseSequence", 10, 2, 2, buildReverseSequence},
    {"", "TopK", 1, 1, 2, buildTopK},
};

} // namespace

llvm::ArrayRef<OperatorEntry> orderingOperators() { return kOperators; }

} // namespace autotune
