// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One level of a nest after the other; rests are tiles of their own.

#include "passes/NestLoops.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

using namespace mlir;

namespace autotune {

OpFoldResult addOffset(OpBuilder &b, Location loc, OpFoldResult base, OpFoldResult added) {
  AffineExpr d0, d1;
  bindDims(b.getContext(), d0, d1);
  return affine::makeComposedFoldedAffineApply(b, loc, d0 + d1, {base, added});
}

namespace {

using Index = SmallVector<OpFoldResult>;

OpFoldResult scaleOffset(OpBuilder &b, Location loc, OpFoldResult index, int64_t factor) {
  AffineExpr d0 = b.getAffineDimExpr(0);
  return affine::makeComposedFoldedAffineApply(b, loc, d0 * factor, {index});
}

Value constantIndex(OpBuilder &b, Location loc, int64_t value) {
  return b.create<arith::ConstantIndexOp>(loc, value);
}

class NestLoops {
public:
  NestLoops(func::FuncOp kernel, const LoopNest &nest, EmitTile emitTile)
      : kernel(kernel), nest(nest), emitTile(emitTile), loc(kernel.getLoc()) {}

  FailureOr<Value> emitLevel(OpBuilder &b, size_t level, const Index &offsets, ArrayRef<int64_t> sizes,
                             Value dest);
  FailureOr<Value> emitChunks(OpBuilder &b, const Index &offsets, ArrayRef<int64_t> sizes, Value dest);

private:
  int64_t restTile(size_t level, size_t dims, int64_t rest) const;

  func::FuncOp kernel;
  const LoopNest &nest;
  EmitTile emitTile;
  Location loc;
};

FailureOr<Value> NestLoops::emitLevel(OpBuilder &b, size_t level, const Index &offsets,
                                      ArrayRef<int64_t> sizes, Value dest) {
  if (level == nest.tiles.size())
    return emitTile(b, offsets, sizes, dest);
  auto [dim, step] = nest.tiles[level];
  int64_t extent = sizes[dim];
  if (step >= extent)
    return emitLevel(b, level + 1, offsets, sizes, dest);
  int64_t covered = extent / step * step;
  SmallVector<int64_t> inner(sizes);
  inner[dim] = step;
  auto loop = b.create<scf::ForOp>(loc, constantIndex(b, loc, 0), constantIndex(b, loc, covered),
                                   constantIndex(b, loc, step), ValueRange{dest});
  OpBuilder body = OpBuilder::atBlockEnd(loop.getBody());
  Index innerOffsets = offsets;
  innerOffsets[dim] = addOffset(body, loc, offsets[dim], loop.getInductionVar());
  FailureOr<Value> value = emitLevel(body, level + 1, innerOffsets, inner, loop.getRegionIterArg(0));
  if (failed(value))
    return failure();
  body.create<scf::YieldOp>(loc, *value);
  dest = loop.getResult(0);
  while (covered < extent) {
    inner[dim] = restTile(level, sizes.size(), extent - covered);
    innerOffsets = offsets;
    innerOffsets[dim] = addOffset(b, loc, offsets[dim], b.getIndexAttr(covered));
    FailureOr<Value> rest = emitLevel(b, level + 1, innerOffsets, inner, dest);
    if (failed(rest))
      return failure();
    dest = *rest;
    covered += inner[dim];
  }
  return dest;
}

/// The next tile of what a loop leaves. Register tiles along the lanes, the last dim, are at most one vector
/// or a power of two of them: LLVM takes other vectors apart into elements wherever they live beyond one
/// block.
int64_t NestLoops::restTile(size_t level, size_t dims, int64_t rest) const {
  constexpr int64_t kNarrowestVector = 8;
  int dim = nest.tiles[level].dim;
  bool isRegisterTile = llvm::none_of(llvm::drop_begin(nest.tiles, level + 1),
                                      [&](const TileLoop &loop) { return loop.dim == dim; });
  bool isAlongLanes = isRegisterTile && dim + 1 == int(dims);
  return isAlongLanes && rest > kNarrowestVector ? int64_t(llvm::bit_floor(uint64_t(rest))) : rest;
}

/// The first loop, over the chunks that the caller asks for; a smaller last chunk is a loop of its own.
FailureOr<Value> NestLoops::emitChunks(OpBuilder &b, const Index &offsets, ArrayRef<int64_t> sizes,
                                       Value dest) {
  unsigned numArgs = kernel.getNumArguments();
  Value begin = kernel.getArgument(numArgs - 2), end = kernel.getArgument(numArgs - 1);
  auto [dim, step] = nest.tiles[0];
  int64_t whole = sizes[dim] / step, rest = sizes[dim] % step;
  SmallVector<int64_t> inner(sizes);
  inner[dim] = std::min(step, sizes[dim]);
  Value stop = end;
  if (rest)
    stop = b.create<arith::MinSIOp>(loc, end, constantIndex(b, loc, whole));
  if (whole > 0) {
    auto loop = b.create<scf::ForOp>(loc, begin, stop, constantIndex(b, loc, 1), ValueRange{dest});
    OpBuilder body = OpBuilder::atBlockEnd(loop.getBody());
    Index innerOffsets = offsets;
    innerOffsets[dim] =
        addOffset(body, loc, offsets[dim], scaleOffset(body, loc, loop.getInductionVar(), step));
    FailureOr<Value> value = emitLevel(body, 1, innerOffsets, inner, loop.getRegionIterArg(0));
    if (failed(value))
      return failure();
    body.create<scf::YieldOp>(loc, *value);
    dest = loop.getResult(0);
  }
  if (!rest)
    return dest;
  // A loop of at most one step rather than a branch: behind a branch, bufferisation no longer sees that the
  // result is written in place, and a private copy that each thread stores back undoes what the others did.
  Value first = b.create<arith::MaxSIOp>(loc, begin, constantIndex(b, loc, whole));
  auto restLoop = b.create<scf::ForOp>(loc, first, end, constantIndex(b, loc, 1), ValueRange{dest});
  OpBuilder body = OpBuilder::atBlockEnd(restLoop.getBody());
  inner[dim] = rest;
  Index restOffsets = offsets;
  restOffsets[dim] = addOffset(body, loc, offsets[dim], body.getIndexAttr(whole * step));
  FailureOr<Value> value = emitLevel(body, 1, restOffsets, inner, restLoop.getRegionIterArg(0));
  if (failed(value))
    return failure();
  body.create<scf::YieldOp>(loc, *value);
  return restLoop.getResult(0);
}

} // namespace

FailureOr<Value> emitNestLoops(OpBuilder &b, func::FuncOp kernel, const LoopNest &nest,
                               ArrayRef<int64_t> sizes, Value dest, EmitTile emitTile) {
  NestLoops loops(kernel, nest, emitTile);
  Index offsets(sizes.size(), b.getIndexAttr(0));
  return nest.parallel && !nest.tiles.empty() ? loops.emitChunks(b, offsets, sizes, dest)
                                              : loops.emitLevel(b, 0, offsets, sizes, dest);
}

} // namespace autotune
