// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that write at computed positions, expressed by what each result element reads: a reduction over the
// updates that picks those which hit it.
#include "frontend/OperatorTable.h"
#include "frontend/Scalar.h"
#include "frontend/ScatterKnown.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace autotune {

namespace arith = mlir::arith;
using mlir::Value;
using mlir::utils::IteratorType;

namespace {

// A table of who writes where has an entry for each position.
constexpr int64_t kMaxTable = int64_t(1) << 24;

enum class Update { None, Add, Mul, Max, Min };

mlir::FailureOr<Update> updateKind(NodeContext &node) {
  std::string text = node.stringAttribute("reduction", "none");
  constexpr std::pair<const char *, Update> kinds[] = {
      {"none", Update::None}, {"add", Update::Add}, {"mul", Update::Mul}, {"max", Update::Max}, {"min", Update::Min}};
  for (auto [name, kind] : kinds)
    if (text == name)
      return kind;
  return node.fail("reduction '" + text + "' is not one of none, add, mul, max, min");
}

Value updated(Builder &b, Update kind, ElementType type, Value old, Value update) {
  switch (kind) {
  case Update::None:
    return update;
  case Update::Add:
    return scalar::add(b, old, update);
  case Update::Mul:
    return scalar::mul(b, old, update);
  case Update::Max:
    return scalar::max(b, type, old, update);
  case Update::Min:
    return scalar::min(b, type, old, update);
  }
  return update;
}

Value wrapped(Builder &b, Value index, int64_t dim) {
  Value zero = scalar::constantLike(b, index, 0), size = scalar::constantLike(b, index, static_cast<double>(dim));
  Value negative = b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, index, zero);
  return b.create<arith::SelectOp>(negative, b.create<arith::AddIOp>(index, size), index);
}

Value loopIndexLike(Builder &b, int64_t loop, Value like) {
  return b.create<arith::IndexCastOp>(like.getType(), b.create<mlir::linalg::IndexOp>(loop));
}

mlir::LogicalResult requireIndices(NodeContext &node) {
  if (node.type(1) != ElementType::I64 && node.type(1) != ElementType::I32)
    return node.fail("indices are " + spelling(node.type(1)) + ", expected i32 or i64");
  if (node.type(2) != node.type(0))
    return node.fail("updates are " + spelling(node.type(2)) + ", data are " + spelling(node.type(0)));
  return mlir::success();
}

/// Which update each element of the data gets, from known indices along `axis`.
mlir::FailureOr<UpdateAt> knownElements(NodeContext &node, const ConstantTensor &indices, int64_t axis) {
  llvm::ArrayRef<int64_t> data = node.shape(0);
  Shape from = rowMajorStrides(indices.shape()), to = rowMajorStrides(data);
  UpdateAt updateAt(elementCount(data), -1);
  for (int64_t u = 0, e = indices.size(); u < e; ++u) {
    int64_t position = 0;
    for (size_t i = 0; i < data.size(); ++i) {
      int64_t at = u / from[i] % indices.shape()[i];
      if (static_cast<int64_t>(i) == axis) {
        at = indices.intAt(u);
        if (at < -data[i] || at >= data[i])
          return node.fail("index " + llvm::Twine(at) + " is outside dimension " + llvm::Twine(data[i]));
        at += at < 0 ? data[i] : 0;
      }
      position += at * to[i];
    }
    updateAt[position] = u;
  }
  return updateAt;
}

/// Which update each position of the leading dimensions gets, from known positions [count, leading dimensions].
mlir::FailureOr<UpdateAt> knownPositions(NodeContext &node, const ConstantTensor &indices,
                                         llvm::ArrayRef<int64_t> leading) {
  Shape strides = rowMajorStrides(leading);
  UpdateAt updateAt(elementCount(leading), -1);
  for (int64_t u = 0, e = indices.size() / static_cast<int64_t>(leading.size()); u < e; ++u) {
    int64_t position = 0;
    for (size_t k = 0; k < leading.size(); ++k) {
      int64_t at = indices.intAt(u * leading.size() + k);
      if (at < -leading[k] || at >= leading[k])
        return node.fail("index " + llvm::Twine(at) + " is outside dimension " + llvm::Twine(leading[k]));
      position += (at + (at < 0 ? leading[k] : 0)) * strides[k];
    }
    updateAt[position] = u;
  }
  return updateAt;
}

/// result[i…] is data[i…], updated by all u with indices[… u …] == i[axis] in the same row.
mlir::LogicalResult buildScatterElements(NodeContext &node) {
  llvm::ArrayRef<int64_t> data = node.shape(0), indices = node.shape(1);
  int64_t rank = data.size(), axis = node.axisAttribute("axis", 0, rank);
  mlir::FailureOr<Update> kind = updateKind(node);
  if (node.failedAlready() || failed(kind) || failed(requireIndices(node)))
    return mlir::failure();
  bool fits = indices.size() == data.size() && indices == node.shape(2);
  Shape low(rank, 0), high(rank, 0);
  for (int64_t i = 0; fits && i < rank; ++i) {
    fits = i == axis || indices[i] <= data[i];
    high[i] = i == axis ? 0 : data[i] - indices[i];
  }
  if (!fits)
    return node.fail("indices " + shapeText(indices) + " and updates " + shapeText(node.shape(2)) +
                     " do not fit data " + shapeText(data));
  Builder &b = node.b;
  if (const ConstantTensor *known = node.constant(1); known && *kind == Update::None && elementCount(data) <= kMaxTable) {
    mlir::FailureOr<UpdateAt> updateAt = knownElements(node, *known, axis);
    if (failed(updateAt))
      return mlir::failure();
    node.setResult(0, scatterKnown(b, node.input(0), reshapeTo(b, node.input(2), known->size()), data, *updateAt));
    return mlir::success();
  }
  // Rows without updates get indices that hit nothing.
  Value positions = padded(b, node.input(1), low, high, static_cast<double>(INT32_MIN));
  Value updates = padded(b, node.input(2), low, high, 0);
  llvm::SmallVector<mlir::AffineExpr> updateDims;
  for (int64_t i = 0; i < rank; ++i)
    updateDims.push_back(b.getAffineDimExpr(i == axis ? rank : i));
  mlir::AffineMap updateMap = mlir::AffineMap::get(rank + 1, 0, updateDims, b.getContext());
  mlir::AffineMap resultMap = b.getMultiDimIdentityMap(rank + 1).dropResult(rank);
  llvm::SmallVector<IteratorType> loops(rank, IteratorType::parallel);
  loops.push_back(IteratorType::reduction);
  ElementType type = node.type(0);
  auto build = [&](mlir::OpBuilder &nested, mlir::Location location, mlir::ValueRange v) {
    Builder inner(location, nested);
    Value hit = inner.create<arith::CmpIOp>(arith::CmpIPredicate::eq, wrapped(inner, v[0], data[axis]),
                                            loopIndexLike(inner, axis, v[0]));
    Value next = updated(inner, *kind, type, v[2], v[1]);
    inner.create<mlir::linalg::YieldOp>(Value(inner.create<arith::SelectOp>(hit, next, v[2])));
  };
  Value target = node.input(0);
  node.setResult(0, b.create<mlir::linalg::GenericOp>(
                         mlir::TypeRange{target.getType()}, mlir::ValueRange{positions, updates},
                         mlir::ValueRange{target}, llvm::ArrayRef<mlir::AffineMap>{updateMap, updateMap, resultMap},
                         loops, build)
                        .getResult(0));
  return mlir::success();
}

/// The last dimension of the indices is a position in the leading dimensions of the data.
mlir::LogicalResult buildScatterND(NodeContext &node) {
  llvm::ArrayRef<int64_t> data = node.shape(0), indices = node.shape(1);
  mlir::FailureOr<Update> kind = updateKind(node);
  if (failed(kind) || failed(requireIndices(node)))
    return mlir::failure();
  int64_t rank = data.size(), depth = indices.empty() ? 0 : indices.back();
  Shape expected(indices.empty() ? indices : indices.drop_back());
  int64_t count = elementCount(expected);
  if (depth < 1 || depth > rank)
    return node.fail("indices " + shapeText(indices) + " do not fit data " + shapeText(data));
  expected.append(data.begin() + depth, data.end());
  if (node.shape(2) != llvm::ArrayRef<int64_t>(expected))
    return node.fail("updates of shape " + shapeText(node.shape(2)) + ", expected " + shapeText(expected));
  Builder &b = node.b;
  Shape updateShape = {count};
  updateShape.append(data.begin() + depth, data.end());
  Value updates = reshapeTo(b, node.input(2), updateShape);
  if (const ConstantTensor *known = node.constant(1); known && *kind == Update::None && elementCount(data.take_front(depth)) <= kMaxTable) {
    mlir::FailureOr<UpdateAt> updateAt = knownPositions(node, *known, data.take_front(depth));
    if (failed(updateAt))
      return mlir::failure();
    node.setResult(0, scatterKnown(b, node.input(0), updates, data.take_front(depth), *updateAt));
    return mlir::success();
  }
  Value positions = reshapeTo(b, node.input(1), {count, depth});
  // Loops: the data's dimensions, then the updates. Each part of the position is an operand of its own.
  llvm::SmallVector<Value> inputs;
  llvm::SmallVector<mlir::AffineMap> maps;
  mlir::AffineMap updateLoop = mlir::AffineMap::get(rank + 1, 0, b.getAffineDimExpr(rank));
  for (int64_t k = 0; k < depth; ++k) {
    inputs.push_back(reshapeTo(b, sliceOf(b, positions, {0, k}, {count, 1}, {1, 1}), count));
    maps.push_back(updateLoop);
  }
  llvm::SmallVector<mlir::AffineExpr> updateDims = {b.getAffineDimExpr(rank)};
  for (int64_t i = depth; i < rank; ++i)
    updateDims.push_back(b.getAffineDimExpr(i));
  inputs.push_back(updates);
  maps.push_back(mlir::AffineMap::get(rank + 1, 0, updateDims, b.getContext()));
  maps.push_back(b.getMultiDimIdentityMap(rank + 1).dropResult(rank));
  llvm::SmallVector<IteratorType> loops(rank, IteratorType::parallel);
  loops.push_back(IteratorType::reduction);
  ElementType type = node.type(0);
  auto build = [&](mlir::OpBuilder &nested, mlir::Location location, mlir::ValueRange v) {
    Builder inner(location, nested);
    Value hit;
    for (int64_t k = 0; k < depth; ++k) {
      Value same = inner.create<arith::CmpIOp>(arith::CmpIPredicate::eq, wrapped(inner, v[k], data[k]),
                                               loopIndexLike(inner, k, v[k]));
      hit = hit ? inner.create<arith::AndIOp>(hit, same).getResult() : same;
    }
    Value next = updated(inner, *kind, type, v[depth + 1], v[depth]);
    inner.create<mlir::linalg::YieldOp>(Value(inner.create<arith::SelectOp>(hit, next, v[depth + 1])));
  };
  Value target = node.input(0);
  node.setResult(0, b.create<mlir::linalg::GenericOp>(mlir::TypeRange{target.getType()}, inputs,
                                                      mlir::ValueRange{target}, maps, loops, build)
                        .getResult(0));
  return mlir::success();
}

constexpr OperatorEntry kOperators[] = {
    {"", "Scatter", 9, 3, 3, buildScatterElements},
    {"", "ScatterElements", 11, 3, 3, buildScatterElements},
    {"", "ScatterND", 11, 3, 3, buildScatterND},
};

} // namespace

llvm::ArrayRef<OperatorEntry> scatterOperators() { return kOperators; }

} // namespace autotune
