// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Unit dims are folded by slices first: then what is left of a contraction is an outer product of vectors.

#include "passes/VectorizeKernel.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Hoisting.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

#include "mlir/IR/Dominance.h"

using namespace mlir;

namespace autotune {
namespace {

void addCanonicalizations(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  for (Dialect *dialect : context->getLoadedDialects())
    dialect->getCanonicalizationPatterns(patterns);
  for (RegisteredOperationName op : context->getRegisteredOperations())
    op.getCanonicalizationPatterns(patterns, context);
}

LogicalResult foldUnitDims(func::FuncOp kernel) {
  RewritePatternSet patterns(kernel.getContext());
  linalg::ControlDropUnitDims options;
  options.rankReductionStrategy = linalg::ControlDropUnitDims::RankReductionStrategy::ExtractInsertSlice;
  linalg::populateFoldUnitExtentDimsPatterns(patterns, options);
  tensor::populateMergeConsecutiveInsertExtractSlicePatterns(patterns);
  tensor::populateFoldTensorEmptyPatterns(patterns);
  addCanonicalizations(patterns);
  if (failed(applyPatternsAndFoldGreedily(kernel, std::move(patterns))))
    return kernel.emitError("expected unit dims to fold");
  return success();
}

LogicalResult vectorizeOps(func::FuncOp kernel) {
  SmallVector<linalg::LinalgOp> ops;
  kernel.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  IRRewriter rewriter(kernel.getContext());
  for (linalg::LinalgOp op : ops) {
    rewriter.setInsertionPoint(op);
    // A bound on the vector: beyond it LLVM spends minutes and the code would only spill.
    constexpr int64_t kMaxElements = 4096;
    int64_t elements = 1;
    for (int64_t range : op.getStaticLoopRanges())
      elements *= range;
    if (elements > kMaxElements || elements <= 0)
      continue;
    // A gather of one element makes upstream's vectoriser emit a vector.gather without a vector.
    bool gathers = llvm::any_of(op.getBlock()->getOperations(),
                                [](Operation &inner) { return isa<tensor::ExtractOp>(inner); });
    if (gathers && (op.getStaticLoopRanges().empty() || op.getStaticLoopRanges().back() == 1))
      continue;
    (void)linalg::vectorize(rewriter, op, /*inputVectorSizes=*/{}, /*inputScalableVecDims=*/{},
                            /*vectorizeNDExtract=*/true);
  }
  return success();
}

/// Upstream's fold of insert_slice(transfer_write(vector, tensor)) drops what `tensor` held outside the vector: here it
/// applies only where the vector covers the whole tensor (a rest of a loop writes a part of it).
class FoldCoveringWrite : public RewritePattern {
public:
  FoldCoveringWrite(MLIRContext *context, std::unique_ptr<RewritePattern> fold)
      : RewritePattern(tensor::InsertSliceOp::getOperationName(), /*benefit=*/1, context), fold(std::move(fold)) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    auto insert = cast<tensor::InsertSliceOp>(op);
    auto write = insert.getSource().getDefiningOp<vector::TransferWriteOp>();
    if (!write || write.getMask() || !insert.getSourceType().hasStaticShape() ||
        write.getVectorType().getNumElements() != insert.getSourceType().getNumElements())
      return rewriter.notifyMatchFailure(op, "expected a write of the whole slice");
    return fold->matchAndRewrite(op, rewriter);
  }

private:
  std::unique_ptr<RewritePattern> fold;
};

LogicalResult foldSubsets(func::FuncOp kernel) {
  MLIRContext *context = kernel.getContext();
  RewritePatternSet patterns(context);
  tensor::populateFoldTensorSubsetIntoVectorTransferPatterns(patterns);
  OperationName insertSlice(tensor::InsertSliceOp::getOperationName(), context);
  for (std::unique_ptr<RewritePattern> &pattern : patterns.getNativePatterns())
    if (pattern->getRootKind() == insertSlice)
      pattern = std::make_unique<FoldCoveringWrite>(context, std::move(pattern));
  addCanonicalizations(patterns);
  if (failed(applyPatternsAndFoldGreedily(kernel, std::move(patterns))))
    return kernel.emitError("expected tensor subset ops to fold into transfers");
  return success();
}

/// Multi-reductions (whole rows inside the tile) become elementwise combines followed by one horizontal reduction.
LogicalResult lowerMultiReductions(func::FuncOp kernel) {
  RewritePatternSet patterns(kernel.getContext());
  vector::populateVectorMultiReductionLoweringPatterns(patterns,
                                                       vector::VectorMultiReductionLowering::InnerReduction);
  addCanonicalizations(patterns);
  if (failed(applyPatternsAndFoldGreedily(kernel, std::move(patterns))))
    return kernel.emitError("expected reductions to lower");
  return success();
}

/// The loop over the chunks that a caller asks for: it may run no step at all.
bool isChunkLoop(LoopLikeOpInterface loop) {
  auto forOp = dyn_cast<scf::ForOp>(loop.getOperation());
  return forOp && isa<func::FuncOp>(forOp->getParentOp()) &&
         !(getConstantIntValue(forOp.getLowerBound()) && getConstantIntValue(forOp.getUpperBound()));
}

/// Innermost loops first, so that what leaves one loop can leave the next. Nothing of the destination leaves a loop over
/// chunks: a thread that has none of them would store back what another is writing.
void hoist(func::FuncOp kernel) {
  IRRewriter rewriter(kernel.getContext());
  kernel.walk([&](LoopLikeOpInterface loop) { moveLoopInvariantCode(loop); });
  kernel.walk([&](LoopLikeOpInterface loop) {
    if (!isChunkLoop(loop))
      (void)hoistLoopInvariantSubsets(rewriter, loop);
  });
}

} // namespace

LogicalResult simplifyKernel(func::FuncOp kernel) {
  RewritePatternSet patterns(kernel.getContext());
  addCanonicalizations(patterns);
  tensor::populateFoldTensorEmptyPatterns(patterns);
  if (failed(applyPatternsAndFoldGreedily(kernel, std::move(patterns))))
    return kernel.emitError("expected canonicalisation to converge");
  IRRewriter rewriter(kernel.getContext());
  DominanceInfo dominance(kernel);
  eliminateCommonSubExpressions(rewriter, dominance, kernel);
  return success();
}

LogicalResult vectorizeKernel(func::FuncOp kernel) {
  if (failed(simplifyKernel(kernel)) || failed(foldUnitDims(kernel)) || failed(vectorizeOps(kernel)) ||
      failed(foldSubsets(kernel)) || failed(lowerMultiReductions(kernel)))
    return failure();
  hoist(kernel);
  if (failed(simplifyKernel(kernel)))
    return failure();
  // A second round: folding writes into reads uncovers invariants of the outer reduction loops.
  hoist(kernel);
  return simplifyKernel(kernel);
}

} // namespace autotune
