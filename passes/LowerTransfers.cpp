// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Upstream unrolls transfers of higher rank; the patterns here take over at rank one, with a higher benefit.

#include "passes/LowerTransfers.h"

#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace autotune {
namespace {

constexpr unsigned kBenefit = 100;

bool isContiguous(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  return succeeded(getStridesAndOffset(type, strides, offset)) && !strides.empty() && strides.back() == 1;
}

/// The memref axis that the one vector axis runs along; -1 for a broadcast.
int64_t axisOf(AffineMap map) {
  auto dim = dyn_cast<AffineDimExpr>(map.getResult(0));
  return dim ? int64_t(dim.getPosition()) : -1;
}

/// Upstream's own lowering makes one load or store of it.
bool isWholeVector(MemRefType type, AffineMap map) {
  return axisOf(map) == type.getRank() - 1 && isContiguous(type);
}

SmallVector<Value> indicesAt(OpBuilder &b, Location loc, ValueRange base, int64_t axis, int64_t lane) {
  SmallVector<Value> indices(base);
  if (lane != 0)
    indices[axis] = affine::makeComposedAffineApply(b, loc, b.getAffineDimExpr(0) + lane, {base[axis]});
  return indices;
}

struct LowerRead : OpRewritePattern<vector::TransferReadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::TransferReadOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<MemRefType>(op.getSource().getType());
    VectorType vector = op.getVectorType();
    if (!type || vector.getRank() != 1 || op.getMask() || op.hasOutOfBoundsDim())
      return rewriter.notifyMatchFailure(op, "expected an in-bounds read of one axis of a memref");
    if (isWholeVector(type, op.getPermutationMap()))
      return rewriter.notifyMatchFailure(op, "expected an axis that is not contiguous");
    Location loc = op.getLoc();
    int64_t axis = axisOf(op.getPermutationMap());
    if (axis < 0) {
      Value element = rewriter.create<memref::LoadOp>(loc, op.getSource(), op.getIndices());
      rewriter.replaceOpWithNewOp<vector::BroadcastOp>(op, vector, element);
      return success();
    }
    SmallVector<Value> elements;
    for (int64_t lane = 0; lane < vector.getDimSize(0); ++lane)
      elements.push_back(rewriter.create<memref::LoadOp>(loc, op.getSource(),
                                                         indicesAt(rewriter, loc, op.getIndices(), axis, lane)));
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, vector, elements);
    return success();
  }
};

struct LowerWrite : OpRewritePattern<vector::TransferWriteOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::TransferWriteOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<MemRefType>(op.getSource().getType());
    VectorType vector = op.getVectorType();
    if (!type || vector.getRank() != 1 || op.getMask() || op.hasOutOfBoundsDim())
      return rewriter.notifyMatchFailure(op, "expected an in-bounds write of one axis of a memref");
    if (isWholeVector(type, op.getPermutationMap()))
      return rewriter.notifyMatchFailure(op, "expected an axis that is not contiguous");
    Location loc = op.getLoc();
    int64_t axis = axisOf(op.getPermutationMap());
    for (int64_t lane = 0; lane < vector.getDimSize(0); ++lane) {
      Value element = rewriter.create<vector::ExtractOp>(loc, op.getVector(), lane);
      rewriter.create<memref::StoreOp>(loc, element, op.getSource(),
                                       indicesAt(rewriter, loc, op.getIndices(), axis, lane));
    }
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void populateLowerTransfersPatterns(RewritePatternSet &patterns) {
  VectorTransferToSCFOptions options;
  options.unroll = true;
  populateVectorToSCFConversionPatterns(patterns, options);
  patterns.add<LowerRead, LowerWrite>(patterns.getContext(), kBenefit);
}

} // namespace autotune
