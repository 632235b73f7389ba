// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Upstream's collapsing patterns, held to reshapes of two-dimensional values: NCHW chains keep their four
// dims.

#include "passes/SimplifyModel.h"

#include "passes/DropEmptyTensors.h"
#include "passes/OpRoles.h"
#include "passes/OutlineAsIs.h"
#include "passes/WholeIdeas.h"
#include "passes/WidenHalf.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace autotune {
namespace {

/// True for the reshape of a matrix [M, N] into [.., N]: the rows are split, the columns stay.
bool splitsRowsOfMatrix(OpOperand *operand) {
  auto expand = operand->get().getDefiningOp<tensor::ExpandShapeOp>();
  if (!expand || expand.getSrcType().getRank() != 2)
    return false;
  SmallVector<ReassociationIndices, 4> groups = expand.getReassociationIndices();
  return groups[1].size() == 1 && isa<linalg::GenericOp>(operand->getOwner());
}

/// An empty tensor of the reshaped type: an op that started from a reshaped one would seem to update a value.
/// (Upstream's pattern needs interfaces of dynamic shapes that nothing else here does.)
template <typename Reshape> LogicalResult reshapeEmpty(Reshape op, PatternRewriter &rewriter) {
  RankedTensorType type = op.getResultType();
  if (!op.getSrc().template getDefiningOp<tensor::EmptyOp>() || !type.hasStaticShape())
    return rewriter.notifyMatchFailure(op, "expected a static reshape of an empty tensor");
  rewriter.replaceOpWithNewOp<tensor::EmptyOp>(op, type.getShape(), type.getElementType());
  return success();
}

/// Named composites become the ops that they are made of: a softmax its reductions, a packing its pad and
/// transpose.
LogicalResult decompose(func::FuncOp main) {
  SmallVector<Operation *> composites;
  main.walk([&](Operation *op) {
    if (isa<linalg::AggregatedOpInterface, tensor::PackOp, tensor::UnPackOp>(op) && !isTakenWhole(op))
      composites.push_back(op);
  });
  IRRewriter rewriter(main.getContext());
  for (Operation *op : composites) {
    rewriter.setInsertionPoint(op);
    if (auto pack = dyn_cast<tensor::PackOp>(op)) {
      if (failed(linalg::lowerPack(rewriter, pack)))
        return op->emitError("expected a packing that is a pad and a transpose");
    } else if (auto unpack = dyn_cast<tensor::UnPackOp>(op)) {
      if (failed(linalg::lowerUnPack(rewriter, unpack)))
        return op->emitError("expected an unpacking that is a transpose and a slice");
    } else {
      FailureOr<SmallVector<Value>> parts =
          cast<linalg::AggregatedOpInterface>(op).decomposeOperation(rewriter);
      if (failed(parts))
        return op->emitError("expected an operator that can be decomposed");
      rewriter.replaceOp(op, *parts);
    }
  }
  return success();
}

/// What a padding cuts off becomes a slice of its own. Upstream folds a padding that neither widens nor narrows its
/// source into that source, even where it moves the elements.
void sliceBeforePadding(func::FuncOp main) {
  SmallVector<tensor::PadOp> pads(main.getOps<tensor::PadOp>());
  for (tensor::PadOp pad : pads) {
    SmallVector<int64_t> low(pad.getStaticLow()), high(pad.getStaticHigh());
    auto isCut = [](int64_t amount) { return amount < 0 && !ShapedType::isDynamic(amount); };
    if (!pad.getSourceType().hasStaticShape() || (llvm::none_of(low, isCut) && llvm::none_of(high, isCut)))
      continue;
    OpBuilder b(pad);
    SmallVector<OpFoldResult> offsets, sizes, strides(low.size(), b.getIndexAttr(1)), lowLeft, highLeft;
    for (auto [extent, before, after] : llvm::zip(pad.getSourceType().getShape(), low, high)) {
      int64_t from = std::max<int64_t>(0, -before), to = std::max<int64_t>(0, -after);
      offsets.push_back(b.getIndexAttr(from));
      sizes.push_back(b.getIndexAttr(extent - from - to));
      lowLeft.push_back(b.getIndexAttr(std::max<int64_t>(0, before)));
      highLeft.push_back(b.getIndexAttr(std::max<int64_t>(0, after)));
    }
    Value part = b.create<tensor::ExtractSliceOp>(pad.getLoc(), pad.getSource(), offsets, sizes, strides);
    auto replaced = b.create<tensor::PadOp>(pad.getLoc(), pad.getResultType(), part, lowLeft, highLeft);
    replaced.getRegion().takeBody(pad.getRegion());
    pad.replaceAllUsesWith(replaced.getResult());
    pad.erase();
  }
}

} // namespace

LogicalResult simplifyModel(func::FuncOp main) {
  sliceBeforePadding(main);
  dropEmptyTensors(main);
  widenHalf(main);
  if (failed(decompose(main)))
    return failure();
  MLIRContext *context = main.getContext();
  RewritePatternSet patterns(context);
  linalg::populateFoldReshapeOpsByCollapsingPatterns(patterns, splitsRowsOfMatrix);
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
  tensor::EmptyOp::getCanonicalizationPatterns(patterns, context);
  patterns.add(reshapeEmpty<tensor::CollapseShapeOp>);
  patterns.add(reshapeEmpty<tensor::ExpandShapeOp>);
  linalg::FillOp::getCanonicalizationPatterns(patterns, context);
  linalg::GenericOp::getCanonicalizationPatterns(patterns, context); // copies of whole values
  linalg::populateElementwiseToLinalgConversionPatterns(patterns);
  GreedyRewriteConfig config;
  config.useTopDownTraversal = true;
  if (failed(applyPatternsAndFoldGreedily(main, std::move(patterns), config)))
    return main.emitError("expected simplification to converge");
  IRRewriter rewriter(context);
  DominanceInfo dominance(main);
  eliminateCommonSubExpressions(rewriter, dominance, main);
  splitResults(main); // after what would join equal ops again
  return success();
}

} // namespace autotune
