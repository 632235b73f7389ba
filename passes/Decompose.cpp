// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ideas are replaced where they stand; each op knows its own pieces.

#include "passes/Decompose.h"

#include "dialect/AutotuneDialect.h"
#include "dialect/Decompose.h"
#include "passes/AbsorbTranspositions.h"
#include "passes/WholeIdeas.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace autotune {

LogicalResult decomposeIdeas(func::FuncOp function, bool all) {
  if (!all)
    absorbTranspositions(function);
  SmallVector<Operation *> ideas;
  function.walk([&](Operation *op) {
    if (isIdea(op) && (all || !isTakenWhole(op)))
      ideas.push_back(op);
  });
  IRRewriter rewriter(function.getContext());
  for (Operation *op : ideas) {
    rewriter.setInsertionPoint(op);
    // The steps of a kernel stay a loop; those of the graph become kernels.
    auto recurrence = all ? dyn_cast<RecurrenceOp>(op) : RecurrenceOp();
    FailureOr<SmallVector<Value>> pieces =
        recurrence ? recurrence.decomposeIntoLoop(rewriter) : decomposeIdea(rewriter, op);
    if (failed(pieces))
      return op->emitOpError("cannot be decomposed, expected floats on static tensors");
    rewriter.replaceOp(op, *pieces);
  }
  return success();
}

} // namespace autotune
