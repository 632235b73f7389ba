// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Index maps are written with named loop dims so that each can be read against its comment in the header.

#include "passes/BlockedOps.h"

#include "dialect/AutotuneDialect.h"
#include "passes/OpRoles.h"
#include "passes/PackConstant.h"
#include "passes/WinogradFilter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace autotune {
namespace {

using Kind = utils::IteratorType;

SmallVector<Kind> iterators(unsigned parallel, unsigned reduction) {
  SmallVector<Kind> kinds(parallel, Kind::parallel);
  kinds.append(reduction, Kind::reduction);
  return kinds;
}

SmallVector<int64_t> intValues(DenseIntElementsAttr attr) {
  return llvm::to_vector(attr.getValues<int64_t>());
}

/// The scalar that a reduction starts from: what its init was filled with.
Value filledInit(OpBuilder &b, linalg::LinalgOp op, RankedTensorType type) {
  Value empty = b.create<tensor::EmptyOp>(op.getLoc(), type.getShape(), type.getElementType());
  auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  if (!fill)
    return empty;
  return b.create<linalg::FillOp>(op.getLoc(), fill.getInputs(), ValueRange{empty}).getResult(0);
}

/// The body of `op`, casts of narrow types included, with its multiply and add free to fuse.
void copyBody(linalg::LinalgOp op, linalg::GenericOp blocked) {
  IRMapping mapping;
  op->getRegion(0).cloneInto(&blocked.getRegion(), mapping);
  auto contract = arith::FastMathFlagsAttr::get(op->getContext(), arith::FastMathFlags::contract);
  for (Operation &inner : blocked.getRegion().front())
    if (isa<arith::MulFOp, arith::AddFOp>(inner) && op.getNumReductionLoops() > 0)
      inner.setAttr("fastmath", contract);
}

Value packed(OpBuilder &b, Value constant, ArrayRef<PackedAxis> axes) {
  return b.create<arith::ConstantOp>(constant.getLoc(), packConstant(constantValue(constant), axes));
}

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

} // namespace

linalg::GenericOp blockConv2d(OpBuilder &b, linalg::Conv2DNchwFchwOp op, BlockedValues &values, int64_t block,
                              int64_t winogradOutputs) {
  Location loc = op.getLoc();
  Value input = op.getInputs()[0], weights = op.getInputs()[1];
  ArrayRef<int64_t> w = typeOf(weights).getShape(); // [O, I, KH, KW]
  ChannelSplit split{1, block};
  int64_t ob = split.blocks(w[0]), ib = split.blocks(w[1]);
  SmallVector<int64_t> s = intValues(op.getStrides()), d = intValues(op.getDilations());
  bool plainInput = w[1] < block && !values.contains(input);

  unsigned loops = plainInput ? 8 : 9;
  auto dim = [&](unsigned i) { return b.getAffineDimExpr(i); };
  AffineExpr n = dim(0), oh = dim(1), ow = dim(2), o = dim(3), v = dim(4), i = dim(5), kh = dim(6),
             kw = dim(7);
  AffineExpr ih = oh * s[0] + kh * d[0], iw = ow * s[1] + kw * d[1];
  SmallVector<AffineExpr> inputMap = {n, i, ih, iw}, weightMap = {o, i, kh, kw};
  SmallVector<PackedAxis> axes = {
      {0, ob, block}, {1, plainInput ? w[1] : ib, plainInput ? 1 : block}, {2, w[2]}, {3, w[3]}};
  if (!plainInput) {
    inputMap.push_back(dim(8));
    weightMap.push_back(dim(8));
    axes.push_back({1, block});
    input = values.get(b, input, {1, block});
  }
  weightMap.push_back(v);
  axes.push_back({0, block});

  RankedTensorType type = ChannelSplit{1, block}.blockedType(typeOf(op.getResult(0)));
  SmallVector<AffineMap> maps = AffineMap::inferFromExprList(
      {inputMap, weightMap, SmallVector<AffineExpr>{n, o, oh, ow, v}}, b.getContext());
  for (AffineMap &map : maps)
    map = AffineMap::get(loops, 0, map.getResults(), b.getContext());
  Value filter;
  if (winogradOutputs > 0) {
    DenseElementsAttr transformed = transformFilters(constantValue(weights), winogradOutputs, block);
    auto filterType = RankedTensorType::get({ob, ib, w[2], w[3], block, block}, transformed.getElementType());
    filter = b.create<WinogradFilterOp>(loc, filterType, b.create<arith::ConstantOp>(loc, transformed),
                                        uint64_t(winogradOutputs));
  } else {
    filter = packed(b, weights, axes);
  }
  auto blocked = b.create<linalg::GenericOp>(loc, type, ValueRange{input, filter}, filledInit(b, op, type),
                                             maps, iterators(5, loops - 5));
  copyBody(op, blocked);
  return blocked;
}

/// (n, cb, oh, ow, v | kh, kw) -> (n, cb, oh*s + kh*d, ow*s + kw*d, v)
static AffineMap windowMap(OpBuilder &b, ArrayRef<int64_t> s, ArrayRef<int64_t> d) {
  auto dim = [&](unsigned i) { return b.getAffineDimExpr(i); };
  return AffineMap::get(
      7, 0, {dim(0), dim(1), dim(2) * s[0] + dim(5) * d[0], dim(3) * s[1] + dim(6) * d[1], dim(4)},
      b.getContext());
}

static AffineMap mapOf(OpBuilder &b, unsigned loops, ArrayRef<unsigned> dims) {
  SmallVector<AffineExpr> exprs;
  for (unsigned dim : dims)
    exprs.push_back(b.getAffineDimExpr(dim));
  return AffineMap::get(loops, 0, exprs, b.getContext());
}

linalg::GenericOp blockDepthwise(OpBuilder &b, linalg::DepthwiseConv2DNchwChwOp op, BlockedValues &values,
                                 int64_t block) {
  Value weights = op.getInputs()[1];
  ArrayRef<int64_t> w = typeOf(weights).getShape(); // [C, KH, KW]
  Value filter =
      packed(b, weights, {{0, ChannelSplit{0, block}.blocks(w[0]), block}, {1, w[1]}, {2, w[2]}, {0, block}});
  RankedTensorType type = ChannelSplit{1, block}.blockedType(typeOf(op.getResult(0)));
  SmallVector<AffineMap> maps = {windowMap(b, intValues(op.getStrides()), intValues(op.getDilations())),
                                 mapOf(b, 7, {1, 5, 6, 4}), mapOf(b, 7, {0, 1, 2, 3, 4})};
  auto blocked = b.create<linalg::GenericOp>(op.getLoc(), type,
                                             ValueRange{values.get(b, op.getInputs()[0], {1, block}), filter},
                                             filledInit(b, op, type), maps, iterators(5, 2));
  copyBody(op, blocked);
  return blocked;
}

linalg::GenericOp blockPooling(OpBuilder &b, linalg::LinalgOp op, BlockedValues &values, int64_t block) {
  DenseIntElementsAttr strides, dilations;
  llvm::TypeSwitch<Operation *>(op).Case<linalg::PoolingNchwMaxOp, linalg::PoolingNchwSumOp>(
      [&](auto pooling) {
        strides = pooling.getStrides();
        dilations = pooling.getDilations();
      });
  RankedTensorType type = ChannelSplit{1, block}.blockedType(typeOf(op->getResult(0)));
  SmallVector<AffineMap> maps = {windowMap(b, intValues(strides), intValues(dilations)), mapOf(b, 7, {5, 6}),
                                 mapOf(b, 7, {0, 1, 2, 3, 4})};
  auto generic = b.create<linalg::GenericOp>(
      op.getLoc(), type, ValueRange{values.get(b, op.getDpsInputs()[0], {1, block}), op.getDpsInputs()[1]},
      filledInit(b, op, type), maps, iterators(5, 2));
  copyBody(op, generic);
  return generic;
}

linalg::GenericOp blockGeneric(OpBuilder &b, linalg::GenericOp op, BlockedValues &values,
                               ChannelSplit split) {
  unsigned loops = op.getNumLoops();
  auto channel = unsigned(split.axis);
  // A reduction keeps its parallel loops first: the inner channel goes in front of the reduction loops.
  unsigned inner = op.getNumParallelLoops() == loops ? loops : 2;
  SmallVector<unsigned> position(loops);
  for (unsigned dim = 0; dim < loops; ++dim)
    position[dim] = dim < inner ? dim : dim + 1;
  auto blockedMap = [&](AffineMap map, bool innerLast) {
    SmallVector<AffineExpr> exprs;
    bool hasChannel = false;
    for (AffineExpr expr : map.getResults()) {
      unsigned dim = cast<AffineDimExpr>(expr).getPosition();
      hasChannel |= dim == channel;
      exprs.push_back(b.getAffineDimExpr(position[dim]));
    }
    if (hasChannel && innerLast)
      exprs.push_back(b.getAffineDimExpr(inner));
    return AffineMap::get(loops + 1, 0, exprs, b.getContext());
  };
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (auto [operand, map] : llvm::zip(op.getInputs(), op.getIndexingMapsArray())) {
    maps.push_back(blockedMap(map, true));
    auto where = map.getResultPosition(b.getAffineDimExpr(channel));
    inputs.push_back(where ? values.get(b, operand, {int64_t(*where), split.block}) : operand);
  }
  AffineMap outputMap = op.getIndexingMapsArray().back();
  maps.push_back(blockedMap(outputMap, true));
  int64_t outputAxis = *outputMap.getResultPosition(b.getAffineDimExpr(channel));
  RankedTensorType type = ChannelSplit{outputAxis, split.block}.blockedType(typeOf(op.getResult(0)));
  SmallVector<Kind> kinds = op.getIteratorTypesArray();
  kinds.insert(kinds.begin() + inner, Kind::parallel);
  auto blocked = b.create<linalg::GenericOp>(op.getLoc(), type, inputs, filledInit(b, op, type), maps, kinds);
  copyBody(op, blocked);
  return blocked;
}

tensor::PadOp blockPad(OpBuilder &b, tensor::PadOp op, BlockedValues &values, int64_t block) {
  SmallVector<OpFoldResult> low = op.getMixedLowPad(), high = op.getMixedHighPad();
  low.push_back(b.getIndexAttr(0));
  high.push_back(b.getIndexAttr(0));
  RankedTensorType type = ChannelSplit{1, block}.blockedType(typeOf(op.getResult()));
  return b.create<tensor::PadOp>(op.getLoc(), type, values.get(b, op.getSource(), {1, block}), low, high,
                                 op.getConstantPaddingValue());
}

linalg::GenericOp blockMatmul(OpBuilder &b, linalg::MatmulOp op, int64_t panel) {
  Value weights = op.getInputs()[1];
  ArrayRef<int64_t> w = typeOf(weights).getShape(); // [K, N]
  int64_t nb = ChannelSplit{1, panel}.blocks(w[1]);
  Value panels = packed(b, weights, {{1, nb, panel}, {0, w[0]}, {1, panel}});
  RankedTensorType type = ChannelSplit{1, panel}.blockedType(typeOf(op.getResult(0)));
  SmallVector<AffineMap> maps = {mapOf(b, 4, {0, 3}), mapOf(b, 4, {1, 3, 2}), mapOf(b, 4, {0, 1, 2})};
  auto blocked = b.create<linalg::GenericOp>(op.getLoc(), type, ValueRange{op.getInputs()[0], panels},
                                             filledInit(b, op, type), maps, iterators(3, 1));
  copyBody(op, blocked);
  return blocked;
}

} // namespace autotune
