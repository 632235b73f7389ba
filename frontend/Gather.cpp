// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that read elements at computed positions. Positions are clamped: no index can read outside a tensor.
#include "frontend/OperatorTable.h"
#include "frontend/Scalar.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace autotune {

namespace arith = mlir::arith;
using mlir::Value;

namespace {

/// An index of a dimension of size `dim`: negative values count from the end, others beyond it are clamped.
Value wrappedIndex(Builder &b, Value raw, int64_t dim) {
  Value position = b.create<arith::IndexCastOp>(b.getIndexType(), raw);
  Value zero = b.create<arith::ConstantIndexOp>(0), size = b.create<arith::ConstantIndexOp>(dim);
  Value last = b.create<arith::ConstantIndexOp>(dim - 1);
  Value negative = b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, position, zero);
  Value fromEnd = b.create<arith::AddIOp>(position, size);
  Value wrapped = b.create<arith::SelectOp>(negative, fromEnd, position);
  return b.create<arith::MinSIOp>(b.create<arith::MaxSIOp>(wrapped, zero), last);
}

mlir::LogicalResult requireIndices(NodeContext &node, size_t operand) {
  if (node.type(operand) == ElementType::I64 || node.type(operand) == ElementType::I32)
    return mlir::success();
  return node.fail("indices are " + spelling(node.type(operand)) + ", expected i32 or i64");
}

/// Known indices outside the dimension are an error of the model.
mlir::LogicalResult checkKnownIndices(NodeContext &node, size_t operand, int64_t dim) {
  const ConstantTensor *indices = node.constant(operand);
  for (int64_t i = 0, e = indices ? indices->size() : 0; i < e; ++i)
    if (indices->intAt(i) < -dim || indices->intAt(i) >= dim)
      return node.fail("index " + llvm::Twine(indices->intAt(i)) + " is outside dimension " + llvm::Twine(dim));
  return mlir::success();
}

/// result[a…, i…, c…] = data[a…, indices[i…], c…]
mlir::LogicalResult buildGather(NodeContext &node) {
  llvm::ArrayRef<int64_t> data = node.shape(0), indices = node.shape(1);
  int64_t axis = node.axisAttribute("axis", 0, data.size());
  if (node.failedAlready() || failed(requireIndices(node, 1)) || failed(checkKnownIndices(node, 1, data[axis])))
    return mlir::failure();
  Shape shape(data.take_front(axis));
  shape.append(indices.begin(), indices.end());
  shape.append(data.begin() + axis + 1, data.end());
  if (!checkedByteCount(shape, node.type(0)))
    return node.fail("the result " + shapeText(shape) + " is too large");
  if (data[axis] == 0 && elementCount(shape) != 0)
    return node.fail("gathers from the empty dimension " + llvm::Twine(axis) + " of " + shapeText(data));
  Builder &b = node.b;
  Value source = node.input(0);
  // The indices are an ordinary operand, read along the loops in the middle.
  llvm::SmallVector<mlir::AffineExpr> middle;
  for (size_t i = 0; i < indices.size(); ++i)
    middle.push_back(b.getAffineDimExpr(axis + i));
  ElementwiseOperand positions{node.input(1), mlir::AffineMap::get(shape.size(), 0, middle, b.getContext()), {}};
  Value result = elementwise(b, shape, node.elementType(0), positions, [&](Builder &inner, mlir::ValueRange v) -> Value {
    llvm::SmallVector<Value> at;
    for (int64_t i = 0; i < static_cast<int64_t>(data.size()); ++i) {
      if (i == axis)
        at.push_back(wrappedIndex(inner, v[0], data[axis]));
      else
        at.push_back(inner.create<mlir::linalg::IndexOp>(i < axis ? i : i + indices.size() - 1));
    }
    return inner.create<mlir::tensor::ExtractOp>(source, at);
  });
  node.setResult(0, result);
  return mlir::success();
}

/// result[i…] = data[i…] with position `axis` replaced by indices[i…]
mlir::LogicalResult buildGatherElements(NodeContext &node) {
  llvm::ArrayRef<int64_t> data = node.shape(0), shape = node.shape(1);
  int64_t axis = node.axisAttribute("axis", 0, data.size());
  if (node.failedAlready() || failed(requireIndices(node, 1)) || failed(checkKnownIndices(node, 1, data[axis])))
    return mlir::failure();
  bool fits = data.size() == shape.size();
  for (size_t i = 0; fits && i < data.size(); ++i)
    fits = static_cast<int64_t>(i) == axis ? data[i] > 0 || shape[i] == 0 : shape[i] <= data[i];
  if (!fits)
    return node.fail("indices " + shapeText(shape) + " do not fit data " + shapeText(data));
  Value source = node.input(0);
  node.setResult(0, elementwise(node.b, shape, node.elementType(0), broadcastOperand(node.b, node.input(1), shape),
                                [&](Builder &b, mlir::ValueRange v) -> Value {
                                  llvm::SmallVector<Value> at;
                                  for (int64_t i = 0; i < static_cast<int64_t>(data.size()); ++i)
                                    at.push_back(i == axis ? wrappedIndex(b, v[0], data[axis])
                                                           : Value(b.create<mlir::linalg::IndexOp>(i)));
                                  return b.create<mlir::tensor::ExtractOp>(source, at);
                                }));
  return mlir::success();
}

/// The last dimension of the indices is a position in the dimensions of the data after `batch_dims`.
mlir::LogicalResult buildGatherND(NodeContext &node) {
  llvm::ArrayRef<int64_t> data = node.shape(0), indices = node.shape(1);
  int64_t batch = node.intAttribute("batch_dims", 0), rank = data.size();
  int64_t depth = indices.empty() ? 0 : indices.back();
  bool fits = !indices.empty() && batch >= 0 && batch < static_cast<int64_t>(indices.size()) && depth >= 1 &&
              batch + depth <= rank && data.take_front(batch) == indices.take_front(batch);
  if (!fits || failed(requireIndices(node, 1)))
    return node.fail("indices " + shapeText(indices) + " do not fit data " + shapeText(data));
  Shape shape(indices.drop_back());
  int64_t outer = shape.size();
  shape.append(data.begin() + batch + depth, data.end());
  if (!checkedByteCount(shape, node.type(0)) || (elementCount(data) == 0 && elementCount(shape) != 0))
    return node.fail("the result " + shapeText(shape) + " is not possible");
  Value source = node.input(0), positions = node.input(1);
  node.setResult(0, computedByIndex(node.b, shape, node.elementType(0), [&](Builder &b, mlir::ValueRange i) -> Value {
    llvm::SmallVector<Value> at(i.take_front(batch)), tuple(i.take_front(outer));
    tuple.emplace_back();
    for (int64_t k = 0; k < depth; ++k) {
      tuple.back() = b.create<arith::ConstantIndexOp>(k);
      at.push_back(wrappedIndex(b, b.create<mlir::tensor::ExtractOp>(positions, tuple), data[batch + k]));
    }
    llvm::append_range(at, i.drop_front(outer));
    return b.create<mlir::tensor::ExtractOp>(source, at);
  }));
  return mlir::success();
}

/// off_on_values[1] where the class index of `axis` equals the (wrapped) index, off_on_values[0] elsewhere.
mlir::LogicalResult buildOneHot(NodeContext &node) {
  const ConstantTensor *depth = node.constant(1);
  if (!depth || depth->size() != 1)
    return node.fail("the depth must be a scalar known at import: the shape depends on it");
  int64_t classes = depth->intAt(0), rank = node.rank(0);
  int64_t axis = node.axisAttribute("axis", -1, rank + 1);
  Shape shape(node.shape(0));
  shape.insert(shape.begin() + axis, classes);
  if (classes < 1 || elementCount(node.shape(2)) != 2 || !checkedByteCount(shape, node.type(2)))
    return node.fail("depth " + llvm::Twine(classes) + " with values of shape " + shapeText(node.shape(2)));
  Builder &b = node.b;
  mlir::AffineMap map = b.getMultiDimIdentityMap(rank + 1).dropResult(axis);
  Value values = node.input(2);
  ElementType type = node.type(0);
  auto body = [&](Builder &inner, mlir::ValueRange v) -> Value {
    Value index = scalar::cast(inner, v[0], type, ElementType::I64);
    Value zero = scalar::constantLike(inner, index, 0);
    Value fromEnd = inner.create<arith::AddIOp>(index, scalar::constantLike(inner, index, classes));
    Value negative = inner.create<arith::CmpIOp>(arith::CmpIPredicate::slt, index, zero);
    Value wanted = inner.create<arith::SelectOp>(negative, fromEnd, index);
    Value here = inner.create<arith::IndexCastOp>(inner.getI64Type(), inner.create<mlir::linalg::IndexOp>(axis));
    Value hit = inner.create<arith::CmpIOp>(arith::CmpIPredicate::eq, wanted, here);
    Value off = inner.create<arith::ConstantIndexOp>(0), on = inner.create<arith::ConstantIndexOp>(1);
    return inner.create<mlir::tensor::ExtractOp>(values, Value(inner.create<arith::SelectOp>(hit, on, off)));
  };
  node.setResult(0, elementwise(b, shape, node.elementType(2), ElementwiseOperand{node.input(0), map, {}}, body),
                 node.type(2));
  return mlir::success();
}

/// Keeps the upper or lower triangle of each matrix.
mlir::LogicalResult buildTrilu(NodeContext &node) {
  llvm::ArrayRef<int64_t> shape = node.shape(0);
  bool upper = node.intAttribute("upper", 1) != 0;
  std::optional<std::vector<int64_t>> k = node.constantInts(1);
  if (node.failedAlready())
    return mlir::failure();
  if (shape.size() < 2 || (k && k->size() != 1))
    return node.fail("input " + shapeText(shape) + ", expected matrices and a scalar k");
  int64_t limit = int64_t(1) << 40, diagonal = k ? std::clamp(k->front(), -limit, limit) : 0;
  auto body = [&](Builder &b, mlir::ValueRange v) -> Value {
    Value row = b.create<mlir::linalg::IndexOp>(shape.size() - 2), column = b.create<mlir::linalg::IndexOp>(shape.size() - 1);
    Value edge = b.create<arith::AddIOp>(row, b.create<arith::ConstantIndexOp>(diagonal));
    Value keep = b.create<arith::CmpIOp>(upper ? arith::CmpIPredicate::sge : arith::CmpIPredicate::sle, column, edge);
    return b.create<arith::SelectOp>(keep, v[0], scalar::constantLike(b, v[0], 0));
  };
  node.setResult(0, elementwise(node.b, shape, node.elementType(0), broadcastOperand(node.b, node.input(0), shape), body));
  return mlir::success();
}

constexpr OperatorEntry kOperators[] = {
    {"", "Gather", 1, 2, 2, buildGather},          {"", "GatherElements", 11, 2, 2, buildGatherElements},
    {"", "GatherND", 11, 2, 2, buildGatherND},     {"", "OneHot", 9, 3, 3, buildOneHot},
    {"", "Trilu", 14, 1, 2, buildTrilu},           {"com.microsoft", "Trilu", 1, 1, 2, buildTrilu},
};

} // namespace

llvm::ArrayRef<OperatorEntry> gatherOperators() { return kOperators; }

} // namespace autotune
