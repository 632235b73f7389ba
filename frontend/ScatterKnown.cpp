// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A box becomes nested concatenations, which passes write in place; anything else one read for each element.
#include "frontend/ScatterKnown.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace autotune {

namespace arith = mlir::arith;
using mlir::Value;

namespace {

struct Box {
  Shape low, size;
};

/// The box that the updates fill in row-major order, each position once.
std::optional<Box> filledBox(llvm::ArrayRef<int64_t> leading, const UpdateAt &updateAt, int64_t count) {
  Shape strides = rowMajorStrides(leading), high(leading.size(), -1);
  Box box;
  box.low.assign(leading.begin(), leading.end());
  int64_t next = 0;
  for (auto [position, update] : llvm::enumerate(updateAt)) {
    if (update < 0)
      continue;
    if (update != next++)
      return std::nullopt;
    for (size_t axis = 0; axis < leading.size(); ++axis) {
      int64_t at = static_cast<int64_t>(position) / strides[axis] % leading[axis];
      box.low[axis] = std::min(box.low[axis], at);
      high[axis] = std::max(high[axis], at);
    }
  }
  for (size_t axis = 0; axis < leading.size(); ++axis)
    box.size.push_back(high[axis] - box.low[axis] + 1);
  if (next == 0 || next != count || elementCount(box.size) != count)
    return std::nullopt;
  return box;
}

/// `data` with `part` in the place of `box`, from dimension `axis` on; those before are inside the box already.
Value withBox(Builder &b, Value data, Value part, const Box &box, size_t axis) {
  if (axis == box.size.size())
    return part;
  Shape shape(shapeOf(data)), zeros(shape.size(), 0), ones(shape.size(), 1);
  int64_t extent = shape[axis], end = box.low[axis] + box.size[axis];
  auto slice = [&](int64_t from, int64_t to) {
    Shape offset = zeros, size = shape;
    offset[axis] = from;
    size[axis] = to - from;
    return sliceOf(b, data, offset, size, ones);
  };
  Value middle = withBox(b, slice(box.low[axis], end), part, box, axis + 1);
  if (box.size[axis] == extent)
    return middle;
  llvm::SmallVector<Value> parts;
  if (box.low[axis] > 0)
    parts.push_back(slice(0, box.low[axis]));
  parts.push_back(middle);
  if (end < extent)
    parts.push_back(slice(end, extent));
  return b.create<mlir::tensor::ConcatOp>(axis, parts);
}

Value readThroughTable(Builder &b, Value data, Value updates, llvm::ArrayRef<int64_t> leading,
                       const UpdateAt &updateAt) {
  Shape shape(shapeOf(data));
  auto type = mlir::RankedTensorType::get(leading, b.getI64Type());
  Value table = b.create<arith::ConstantOp>(mlir::DenseElementsAttr::get(type, llvm::ArrayRef<int64_t>(updateAt)));
  llvm::SmallVector<mlir::AffineExpr> tableDims;
  for (size_t axis = 0; axis < leading.size(); ++axis)
    tableDims.push_back(b.getAffineDimExpr(axis));
  ElementwiseOperand entry{table, mlir::AffineMap::get(shape.size(), 0, tableDims, b.getContext()), {}};
  return elementwise(b, shape, elementOf(data), {entry, broadcastOperand(b, data, shape)},
                     [&](Builder &inner, mlir::ValueRange v) -> Value {
                       Value zero = inner.create<arith::ConstantIndexOp>(0);
                       Value update = inner.create<arith::IndexCastOp>(inner.getIndexType(), v[0]);
                       Value hit = inner.create<arith::CmpIOp>(arith::CmpIPredicate::sge, update, zero);
                       llvm::SmallVector<Value> at = {inner.create<arith::MaxSIOp>(update, zero)};
                       for (size_t axis = leading.size(); axis < shape.size(); ++axis)
                         at.push_back(inner.create<mlir::linalg::IndexOp>(axis));
                       Value read = inner.create<mlir::tensor::ExtractOp>(updates, at);
                       return inner.create<arith::SelectOp>(hit, read, v[1]);
                     });
}

} // namespace

Value scatterKnown(Builder &b, Value data, Value updates, llvm::ArrayRef<int64_t> leading,
                   const UpdateAt &updateAt) {
  llvm::ArrayRef<int64_t> shape = shapeOf(data);
  if (llvm::all_of(updateAt, [](int64_t update) { return update < 0; }))
    return data;
  std::optional<Box> box = filledBox(leading, updateAt, shapeOf(updates)[0]);
  if (!box)
    return readThroughTable(b, data, updates, leading, updateAt);
  Shape part = box->size;
  part.append(shape.begin() + leading.size(), shape.end());
  return withBox(b, data, reshapeTo(b, updates, part), *box, 0);
}

} // namespace autotune
