// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emits the loops of a nest around the last op of a kernel and pulls its producers into the tile.

#include "passes/TileNest.h"

#include "passes/NestLoops.h"
#include "passes/OpRoles.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace autotune {
namespace {

using Index = SmallVector<OpFoldResult>;

Value constantIndex(OpBuilder &b, Location loc, int64_t value) {
  return b.create<arith::ConstantIndexOp>(loc, value);
}

/// The loop that alone moves `expr` over the tile, and its coefficient; the other loops have extent 1.
std::optional<std::pair<unsigned, int64_t>> onlyMovingTerm(AffineExpr expr, ArrayRef<int64_t> ranges) {
  std::optional<std::pair<unsigned, int64_t>> found;
  bool simple = true;
  auto visit = [&](auto &&self, AffineExpr e) -> void {
    auto binary = dyn_cast<AffineBinaryOpExpr>(e);
    if (binary && binary.getKind() == AffineExprKind::Add) {
      self(self, binary.getLHS());
      self(self, binary.getRHS());
      return;
    }
    int64_t factor = 1;
    if (binary && binary.getKind() == AffineExprKind::Mul && isa<AffineConstantExpr>(binary.getRHS())) {
      factor = cast<AffineConstantExpr>(binary.getRHS()).getValue();
      e = binary.getLHS();
    }
    auto dim = dyn_cast<AffineDimExpr>(e);
    if (!dim || (ranges[dim.getPosition()] > 1 && found))
      simple = false;
    else if (ranges[dim.getPosition()] > 1)
      found = {dim.getPosition(), factor};
  };
  visit(visit, expr);
  return simple ? found : std::nullopt;
}

/// An input read at `2 * d` becomes a slice of stride 2 read at `d`: the vectoriser knows only plain dims.
void makeStridesExplicit(OpBuilder &b, linalg::LinalgOp op) {
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic)
    return;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(op);
  SmallVector<int64_t, 4> ranges = op.getStaticLoopRanges();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto type = dyn_cast<RankedTensorType>(input->get().getType());
    if (!type)
      continue;
    AffineMap &map = maps[input->getOperandNumber()];
    SmallVector<AffineExpr> exprs(map.getResults());
    Index sizes = getAsIndexOpFoldResult(b.getContext(), type.getShape());
    Index offsets(sizes.size(), b.getIndexAttr(0)), strides(sizes.size(), b.getIndexAttr(1));
    bool changed = false;
    for (auto [axis, expr] : llvm::enumerate(exprs)) {
      auto term = onlyMovingTerm(expr, ranges);
      if (!term || term->second == 1)
        continue;
      expr = b.getAffineDimExpr(term->first);
      sizes[axis] = b.getIndexAttr(ranges[term->first]);
      strides[axis] = b.getIndexAttr(term->second);
      changed = true;
    }
    if (!changed)
      continue;
    input->set(b.create<tensor::ExtractSliceOp>(op.getLoc(), input->get(), offsets, sizes, strides));
    map = AffineMap::get(map.getNumDims(), 0, exprs, b.getContext());
  }
  generic.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
}

class NestEmitter {
public:
  NestEmitter(func::FuncOp kernel, const LoopNest &nest) : kernel(kernel), nest(nest), loc(kernel.getLoc()) {}

  LogicalResult run();

private:
  LogicalResult findLast();
  LogicalResult verifyNest();
  FailureOr<Value> emitTile(OpBuilder &b, ArrayRef<OpFoldResult> offsets, ArrayRef<int64_t> sizes,
                            Value dest);
  FailureOr<Value> emitReductions(OpBuilder &b, linalg::LinalgOp op, size_t level, Index &offsets,
                                  SmallVector<int64_t> &sizes, Value accumulator);
  LogicalResult fuseProducers(OpBuilder &b, ArrayRef<Operation *> tiled);
  linalg::LinalgOp withDestination(OpBuilder &b, Value dest);

  func::FuncOp kernel;
  const LoopNest &nest;
  Location loc;
  linalg::LinalgOp last;
  SmallVector<Operation *> tiledRoots; // reductions that became register tiles
};

/// The op whose value the kernel returns, seen through the insertion into the interior of a larger buffer.
LogicalResult NestEmitter::findLast() {
  auto ret = cast<func::ReturnOp>(kernel.getBody().front().getTerminator());
  if (ret.getNumOperands() != 1)
    return kernel.emitError("expected a kernel with one result, found ") << ret.getNumOperands();
  Value value = ret.getOperand(0);
  while (auto insert = value.getDefiningOp<tensor::InsertSliceOp>())
    value = insert.getSource();
  last = value.getDefiningOp<linalg::LinalgOp>();
  if (!last || last->getNumResults() != 1)
    return kernel.emitError("expected the kernel to return the one result of a linalg op");
  return success();
}

/// What `LoopNest::verify` checks against a workload, against the ops: a nest may come from a file or a flag.
LogicalResult NestEmitter::verifyNest() {
  linalg::LinalgOp root = last;
  kernel.walk([&](linalg::LinalgOp op) {
    if (op.getNumReductionLoops() > 0)
      root = op;
  });
  for (const TileLoop &loop : nest.tiles) {
    if (loop.dim < 0 || loop.dim >= int(last.getNumParallelLoops()))
      return kernel.emitError("expected tile loops over dims 0 to ")
             << int(last.getNumParallelLoops()) - 1 << ", found dim " << loop.dim;
    if (loop.step < 1)
      return kernel.emitError("expected a positive step over dim ") << loop.dim << ", found " << loop.step;
  }
  SmallVector<utils::IteratorType> kinds = root.getIteratorTypesArray();
  llvm::SmallDenseSet<int> seen;
  for (const ReductionLoop &loop : nest.reductions) {
    if (loop.dim < 0 || loop.dim >= int(kinds.size()) || kinds[loop.dim] != utils::IteratorType::reduction)
      return kernel.emitError("expected reduction loops over reduction dims, found dim ") << loop.dim;
    if (!seen.insert(loop.dim).second)
      return kernel.emitError("expected each reduction dim once, found dim ") << loop.dim << " twice";
    if (loop.unroll < 1)
      return kernel.emitError("expected a positive unroll over dim ") << loop.dim << ", found " << loop.unroll;
  }
  if (!seen.empty() && seen.size() != root.getNumReductionLoops())
    return kernel.emitError("expected loops over all ")
           << root.getNumReductionLoops() << " reduction dims or none, found " << seen.size();
  if (nest.parallel && nest.tiles.empty())
    return kernel.emitError("expected a first loop to cut into chunks, found none");
  return success();
}

/// A clone of the last op that writes to `dest`: directly, or through the fill that initialises a reduction.
linalg::LinalgOp NestEmitter::withDestination(OpBuilder &b, Value dest) {
  Value init = dest;
  if (auto fill = last.getDpsInits()[0].getDefiningOp<linalg::FillOp>())
    init = b.create<linalg::FillOp>(loc, fill.getInputs(), ValueRange{dest}).getResult(0);
  Operation *clone = b.clone(*last.getOperation());
  clone->setOperand(last.getDpsInitOperand(0)->getOperandNumber(), init);
  return cast<linalg::LinalgOp>(clone);
}

/// Replaces every slice of a producer's whole result by the producer computed on that slice, transitively.
LogicalResult NestEmitter::fuseProducers(OpBuilder &b, ArrayRef<Operation *> tiled) {
  SmallVector<Operation *> worklist(tiled.begin(), tiled.end());
  SmallVector<std::pair<tensor::ExtractSliceOp, Value>> done;
  bool inOrder = true;
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    for (OpOperand &operand : op->getOpOperands()) {
      auto slice = operand.get().getDefiningOp<tensor::ExtractSliceOp>();
      if (!slice)
        continue;
      auto producer = dyn_cast_or_null<linalg::LinalgOp>(slice.getSource().getDefiningOp());
      if (!producer)
        continue;
      const auto *known = llvm::find_if(done, [&](auto &entry) {
        auto other = entry.first;
        return other.getSource() == slice.getSource() && other.getMixedOffsets() == slice.getMixedOffsets() &&
               other.getMixedSizes() == slice.getMixedSizes();
      });
      if (known != done.end()) {
        operand.set(known->second);
        inOrder &= known->second.getDefiningOp()->isBeforeInBlock(op);
        continue;
      }
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(slice);
      FailureOr<TilingResult> result =
          tensor::replaceExtractSliceWithTiledProducer(b, slice, cast<OpResult>(slice.getSource()));
      if (failed(result))
        return producer->emitError("expected a producer that can be computed on a tile");
      Value value = result->tiledValues[0];
      if (value.getType() != slice.getType())
        value = b.create<tensor::CastOp>(loc, slice.getType(), value);
      operand.set(value);
      done.emplace_back(slice, value);
      for (Operation *t : result->tiledOps)
        worklist.push_back(t);
    }
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op); linalgOp && linalgOp.getNumReductionLoops() > 0)
      tiledRoots.push_back(op);
  }
  // A value that two ops read was computed where the later one needs it.
  if (!inOrder)
    sortTopologically(b.getInsertionBlock());
  return success();
}

FailureOr<Value> NestEmitter::emitTile(OpBuilder &b, ArrayRef<OpFoldResult> offsets, ArrayRef<int64_t> sizes,
                                       Value dest) {
  linalg::LinalgOp op = withDestination(b, dest);
  auto tiling = cast<TilingInterface>(op.getOperation());
  Index allOffsets(offsets.begin(), offsets.end()), allSizes = getAsIndexOpFoldResult(b.getContext(), sizes);
  SmallVector<int64_t, 4> ranges = op.getStaticLoopRanges();
  for (size_t d = allSizes.size(); d < ranges.size(); ++d) {
    allOffsets.push_back(b.getIndexAttr(0));
    allSizes.push_back(b.getIndexAttr(ranges[d]));
  }
  FailureOr<TilingResult> tile = tiling.getTiledImplementation(b, allOffsets, allSizes);
  if (failed(tile))
    return kernel.emitError("expected an op that can be tiled");
  Index resultOffsets, resultSizes;
  if (failed(tiling.getResultTilePosition(b, 0, allOffsets, allSizes, resultOffsets, resultSizes)))
    return kernel.emitError("expected a result that is tiled with the loops");
  if (failed(fuseProducers(b, tile->tiledOps)))
    return failure();
  Operation *init = op.getDpsInits()[0].getDefiningOp();
  Value result = b.create<tensor::InsertSliceOp>(loc, tile->tiledValues[0], dest, resultOffsets, resultSizes,
                                                 Index(resultOffsets.size(), b.getIndexAttr(1)));
  op->erase();
  if (isa_and_nonnull<linalg::FillOp>(init) && init->use_empty())
    init->erase();
  return result;
}

/// Loops of step 1 (times the unroll factor) over the reduction dims of a register tile, carrying the accumulator.
FailureOr<Value> NestEmitter::emitReductions(OpBuilder &b, linalg::LinalgOp op, size_t level, Index &offsets,
                                             SmallVector<int64_t> &sizes, Value accumulator) {
  if (level == nest.reductions.size()) {
    Operation *clone = b.clone(*op.getOperation());
    clone->setOperand(op.getDpsInitOperand(0)->getOperandNumber(), accumulator);
    FailureOr<TilingResult> tile = cast<TilingInterface>(clone).getTiledImplementation(
        b, offsets, getAsIndexOpFoldResult(b.getContext(), sizes));
    if (failed(tile))
      return op->emitError("expected a reduction that can be tiled");
    clone->erase();
    makeStridesExplicit(b, cast<linalg::LinalgOp>(tile->tiledOps[0]));
    return tile->tiledValues[0];
  }
  auto [dim, unroll] = nest.reductions[level];
  SmallVector<int64_t, 4> ranges = op.getStaticLoopRanges();
  int64_t extent = ranges[dim];
  sizes[dim] = 1;
  auto emitSteps = [&](OpBuilder &at, OpFoldResult base, int64_t count, Value acc) -> FailureOr<Value> {
    for (int64_t u = 0; u < count; ++u) {
      offsets[dim] = addOffset(at, loc, base, at.getIndexAttr(u));
      FailureOr<Value> next = emitReductions(at, op, level + 1, offsets, sizes, acc);
      if (failed(next))
        return failure();
      acc = *next;
    }
    return acc;
  };
  if (extent <= unroll)
    return emitSteps(b, b.getIndexAttr(0), extent, accumulator);
  auto loop = b.create<scf::ForOp>(loc, constantIndex(b, loc, 0), constantIndex(b, loc, extent / unroll * unroll),
                                   constantIndex(b, loc, unroll), ValueRange{accumulator});
  OpBuilder body = OpBuilder::atBlockEnd(loop.getBody());
  FailureOr<Value> value = emitSteps(body, loop.getInductionVar(), unroll, loop.getRegionIterArg(0));
  if (failed(value))
    return failure();
  body.create<scf::YieldOp>(loc, *value);
  return emitSteps(b, b.getIndexAttr(extent / unroll * unroll), extent % unroll, loop.getResult(0));
}

LogicalResult NestEmitter::run() {
  if (failed(findLast()) || failed(verifyNest()))
    return failure();
  Block &entry = kernel.getBody().front();
  addChunkArguments(kernel);

  // Where results go: the init of the last op, or, for a reduction, the init of its fill.
  Value dest = last.getDpsInits()[0];
  if (auto fill = dest.getDefiningOp<linalg::FillOp>())
    dest = fill.getOutputs()[0];
  OpBuilder b(last);
  SmallVector<int64_t> sizes;
  for (auto [range, kind] : llvm::zip(last.getStaticLoopRanges(), last.getIteratorTypesArray()))
    if (kind == utils::IteratorType::parallel)
      sizes.push_back(range);
  FailureOr<Value> result =
      emitNestLoops(b, kernel, nest, sizes, dest,
                    [&](OpBuilder &at, ArrayRef<OpFoldResult> offsets, ArrayRef<int64_t> tile, Value into) {
                      return emitTile(at, offsets, tile, into);
                    });
  if (failed(result))
    return failure();
  last->getResult(0).replaceAllUsesWith(*result);

  if (!nest.reductions.empty())
    for (Operation *root : tiledRoots) {
      auto op = cast<linalg::LinalgOp>(root);
      OpBuilder at(op);
      SmallVector<int64_t> tileSizes(op.getStaticLoopRanges());
      Index tileOffsets(tileSizes.size(), at.getIndexAttr(0));
      FailureOr<Value> reduced = emitReductions(at, op, 0, tileOffsets, tileSizes, op.getDpsInits()[0]);
      if (failed(reduced))
        return failure();
      op->getResult(0).replaceAllUsesWith(*reduced);
      op->erase();
    }
  // The whole-tensor ops are dead now; erase them from the last to the first.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(entry)))
    if (isOpTriviallyDead(&op))
      op.erase();
  return success();
}

} // namespace

void addChunkArguments(func::FuncOp kernel) {
  auto index = IndexType::get(kernel.getContext());
  unsigned end = kernel.getNumArguments();
  kernel.insertArguments({end, end}, {index, index}, {{}, {}}, {kernel.getLoc(), kernel.getLoc()});
}

bool canBeTiled(func::FuncOp kernel) {
  bool tileable = true;
  kernel.walk([&](linalg::LinalgOp op) {
    tileable &= isa<func::FuncOp>(op->getParentOp()) && (isa<linalg::FillOp>(op) || isTileable(op));
  });
  return tileable;
}

std::optional<LoopNest> plainNest(func::FuncOp kernel) {
  LoopNest nest;
  linalg::LinalgOp root;
  if (!canBeTiled(kernel))
    return std::nullopt;
  kernel.walk([&](linalg::LinalgOp op) {
    if (!isa<linalg::FillOp>(op.getOperation()) && (!root || op.getNumReductionLoops() > 0))
      root = op;
  });
  if (!root)
    return std::nullopt;
  int last = int(root.getNumParallelLoops()) - 1;
  for (int dim = 0; dim < last; ++dim)
    nest.tiles.push_back({dim, 1});
  for (auto [dim, kind] : llvm::enumerate(root.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction)
      nest.reductions.push_back({int(dim), 1});
  return nest;
}

LogicalResult tileToNest(func::FuncOp kernel, const LoopNest &nest) { return NestEmitter(kernel, nest).run(); }

} // namespace autotune
