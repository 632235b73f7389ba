// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Upstream's collapsing patterns, held to reshapes of two-dimensional values: NCHW chains keep their four dims.

#include "passes/SimplifyModel.h"

#include "passes/DropEmptyTensors.h"
#include "passes/OpRoles.h"

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

} // namespace

LogicalResult simplifyModel(func::FuncOp main) {
  dropEmptyTensors(main);
  MLIRContext *context = main.getContext();
  RewritePatternSet patterns(context);
  linalg::populateFoldReshapeOpsByCollapsingPatterns(patterns, splitsRowsOfMatrix);
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
  tensor::EmptyOp::getCanonicalizationPatterns(patterns, context);
  linalg::FillOp::getCanonicalizationPatterns(patterns, context);
  GreedyRewriteConfig config;
  config.useTopDownTraversal = true;
  if (failed(applyPatternsAndFoldGreedily(main, std::move(patterns), config)))
    return main.emitError("expected simplification to converge");
  IRRewriter rewriter(context);
  DominanceInfo dominance(main);
  eliminateCommonSubExpressions(rewriter, dominance, main);
  return success();
}

} // namespace autotune
