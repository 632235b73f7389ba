// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packing and unpacking one axis: pad, expand, transpose, and back.

#include "passes/BlockedValue.h"

#include "passes/CopyOp.h"
#include "passes/OpRoles.h"
#include "passes/PackConstant.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace autotune {
namespace {

/// [[0], [1, 2], [3], …]: axis `axis` of the shorter shape is two axes of the longer one.
SmallVector<ReassociationIndices> splitAxis(int64_t rank, int64_t axis) {
  SmallVector<ReassociationIndices> groups;
  int64_t next = 0;
  for (int64_t d = 0; d < rank; ++d) {
    groups.push_back({next++});
    if (d == axis)
      groups.back().push_back(next++);
  }
  return groups;
}

/// A copy whose result axis i is axis `permutation[i]` of the source.
Value transpose(OpBuilder &b, Location loc, Value source, ArrayRef<int64_t> permutation) {
  auto type = cast<RankedTensorType>(source.getType());
  unsigned rank = type.getRank();
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> from(rank);
  for (auto [i, axis] : llvm::enumerate(permutation)) {
    shape.push_back(type.getDimSize(axis));
    from[axis] = b.getAffineDimExpr(i);
  }
  Value empty = b.create<tensor::EmptyOp>(loc, shape, type.getElementType());
  return createCopy(b, loc, source, empty, AffineMap::get(rank, 0, from, b.getContext())).getResult(0);
}

Value padAxis(OpBuilder &b, Location loc, Value value, int64_t axis, int64_t extent) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<OpFoldResult> low(shape.size(), b.getIndexAttr(0)), high = low;
  high[axis] = b.getIndexAttr(extent - shape[axis]);
  shape[axis] = extent;
  Value zero = b.create<arith::ConstantOp>(loc, b.getZeroAttr(type.getElementType()));
  return b.create<tensor::PadOp>(loc, RankedTensorType::get(shape, type.getElementType()), value, low, high, zero);
}

/// Where the block axis goes: from behind its axis to the end.
SmallVector<int64_t> blockToEnd(int64_t rank, int64_t axis) {
  SmallVector<int64_t> permutation;
  for (int64_t d = 0; d < rank; ++d)
    if (d != axis + 1)
      permutation.push_back(d);
  permutation.push_back(axis + 1);
  return permutation;
}

Value pack(OpBuilder &b, Value plain, ChannelSplit split) {
  Location loc = plain.getLoc();
  auto type = cast<RankedTensorType>(plain.getType());
  RankedTensorType blocked = split.blockedType(type);
  if (DenseElementsAttr constant = constantValue(plain)) {
    SmallVector<PackedAxis> axes;
    for (int64_t d = 0; d < type.getRank(); ++d)
      axes.push_back({d, blocked.getDimSize(d), d == split.axis ? split.block : 1});
    axes.push_back({split.axis, split.block, 1});
    return b.create<arith::ConstantOp>(loc, packConstant(constant, axes));
  }
  int64_t padded = split.blocks(type.getDimSize(split.axis)) * split.block;
  Value value = plain;
  if (padded != type.getDimSize(split.axis))
    value = padAxis(b, loc, value, split.axis, padded);
  SmallVector<int64_t> expanded(type.getShape());
  expanded[split.axis] = padded / split.block;
  expanded.insert(expanded.begin() + split.axis + 1, split.block);
  value = b.create<tensor::ExpandShapeOp>(loc, RankedTensorType::get(expanded, type.getElementType()), value,
                                          splitAxis(type.getRank(), split.axis));
  if (split.axis + 1 == type.getRank())
    return value;
  return transpose(b, loc, value, blockToEnd(type.getRank() + 1, split.axis));
}

} // namespace

RankedTensorType ChannelSplit::blockedType(RankedTensorType plain) const {
  SmallVector<int64_t> shape(plain.getShape());
  shape[axis] = blocks(shape[axis]);
  shape.push_back(block);
  return RankedTensorType::get(shape, plain.getElementType());
}

Value BlockedValues::get(OpBuilder &b, Value plain, ChannelSplit split) {
  auto entry = entries.find(plain);
  if (entry != entries.end() && entry->second.split == split)
    return entry->second.blocked;
  Value &converted = conversions[{plain, split.block * 16 + split.axis}];
  if (converted)
    return converted;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfterValue(plain);
  // A value that lives in another blocking has no plain definition any more: go through the plain form.
  Value source = plain;
  if (entry != entries.end()) {
    b.setInsertionPointAfterValue(entry->second.blocked);
    source = unpack(b, entry->second.blocked, cast<RankedTensorType>(plain.getType()), entry->second.split);
  }
  return converted = pack(b, source, split);
}

Value BlockedValues::unpack(OpBuilder &b, Value blocked, RankedTensorType type, ChannelSplit split) {
  Location loc = blocked.getLoc();
  int64_t rank = type.getRank();
  Value value = blocked;
  if (split.axis + 1 != rank) {
    SmallVector<int64_t> permutation;
    for (int64_t d = 0; d < rank; ++d) {
      permutation.push_back(d);
      if (d == split.axis)
        permutation.push_back(rank);
    }
    value = transpose(b, loc, value, permutation);
  }
  SmallVector<int64_t> shape(type.getShape());
  shape[split.axis] = split.blocks(shape[split.axis]) * split.block;
  value = b.create<tensor::CollapseShapeOp>(loc, RankedTensorType::get(shape, type.getElementType()), value,
                                            splitAxis(rank, split.axis));
  if (shape == type.getShape())
    return value;
  SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)), strides(rank, b.getIndexAttr(1));
  return b.create<tensor::ExtractSliceOp>(loc, type, value, offsets, getAsIndexOpFoldResult(b.getContext(), type.getShape()),
                                          strides);
}

} // namespace autotune
