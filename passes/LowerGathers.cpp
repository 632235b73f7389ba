// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerGathers.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace autotune {
namespace {

/// Strides in elements over a dense tensor of this shape.
SmallVector<int64_t> denseStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t axis = int64_t(shape.size()) - 2; axis >= 0; --axis)
    strides[axis] = strides[axis + 1] * shape[axis + 1];
  return strides;
}

bool hasDenseStrides(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  return succeeded(getStridesAndOffset(type, strides, offset)) && strides == denseStrides(type.getShape());
}

bool hasInstruction(Type element) {
  return element.isIntOrFloat() &&
         (element.getIntOrFloatBitWidth() == 32 || element.getIntOrFloatBitWidth() == 64);
}

bool isAllTrue(Value mask) {
  DenseIntElementsAttr value;
  return matchPattern(mask, m_Constant(&value)) && value.isSplat() && value.getSplatValue<bool>();
}

/// The source must be a memref with a static shape.
MemRefType staticSource(vector::GatherOp op) {
  auto type = dyn_cast<MemRefType>(op.getBase().getType());
  return type && type.hasStaticShape() ? type : nullptr;
}

struct UnrollGather : OpRewritePattern<vector::GatherOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::GatherOp op, PatternRewriter &rewriter) const override {
    VectorType vector = op.getVectorType();
    if (!staticSource(op) || vector.getRank() < 2 || !isAllTrue(op.getMask()))
      return rewriter.notifyMatchFailure(op, "expected an unmasked gather of rank 2 or more from a memref");
    Location loc = op.getLoc();
    VectorType row = VectorType::get(vector.getShape().drop_front(), vector.getElementType());
    auto bools = VectorType::get(row.getShape(), rewriter.getI1Type());
    Value mask = rewriter.create<arith::ConstantOp>(loc, DenseElementsAttr::get(bools, true));
    Value result = op.getPassThru();
    for (int64_t i = 0; i < vector.getDimSize(0); ++i) {
      auto part = [&](Value value) -> Value { return rewriter.create<vector::ExtractOp>(loc, value, i); };
      Value gathered = rewriter.create<vector::GatherOp>(loc, row, op.getBase(), op.getIndices(),
                                                         part(op.getIndexVec()), mask, part(op.getPassThru()));
      result = rewriter.create<vector::InsertOp>(loc, gathered, result, i);
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct GatherToLoads : OpRewritePattern<vector::GatherOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::GatherOp op, PatternRewriter &rewriter) const override {
    MemRefType type = staticSource(op);
    VectorType vector = op.getVectorType();
    if (!type || vector.getRank() != 1 || !isAllTrue(op.getMask()))
      return rewriter.notifyMatchFailure(op, "expected an unmasked gather of rank 1 from a memref");
    if (hasDenseStrides(type) && hasInstruction(vector.getElementType()))
      return rewriter.notifyMatchFailure(op, "expected a gather that is no instruction");
    SmallVector<Value> lanes;
    for (int64_t lane = 0; lane < vector.getDimSize(0); ++lane) {
      Value index = rewriter.create<vector::ExtractOp>(op.getLoc(), op.getIndexVec(), lane);
      lanes.push_back(loadAt(rewriter, op, type, index));
    }
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, vector, lanes);
    return success();
  }

private:
  /// The element at the linear `index` behind the gather's base.
  static Value loadAt(OpBuilder &b, vector::GatherOp op, MemRefType type, Value index) {
    Location loc = op.getLoc();
    if (!index.getType().isIndex())
      index = b.create<arith::IndexCastOp>(loc, b.getIndexType(), index);
    SmallVector<int64_t> strides = denseStrides(type.getShape());
    AffineExpr linear = b.getAffineDimExpr(0), base = b.getAffineDimExpr(1);
    SmallVector<Value> at;
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      AffineExpr position = linear.floorDiv(strides[axis]);
      // The leading axis needs no remainder: an index behind the end is an error of the model.
      if (axis > 0)
        position = position % type.getDimSize(axis);
      at.push_back(affine::makeComposedAffineApply(b, loc, position + base, {index, op.getIndices()[axis]}));
    }
    return b.create<memref::LoadOp>(loc, op.getBase(), at);
  }
};

} // namespace

void populateLowerGathersPatterns(RewritePatternSet &patterns) {
  patterns.add<UnrollGather, GatherToLoads>(patterns.getContext());
}

} // namespace autotune
