// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Permutations are composed outwards; the farthest one that is legal is taken.

#include "passes/AbsorbTranspositions.h"

#include "dialect/AutotuneDialect.h"
#include "dialect/Emit.h"
#include "passes/WholeIdeas.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace autotune {
namespace {

using Order = SmallVector<int64_t>;

Order orderOf(DenseI64ArrayAttr given, Value tensor) {
  if (given)
    return Order(given.asArrayRef());
  return llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(shapeOf(tensor).size())));
}

DenseI64ArrayAttr attributeOf(OpBuilder &b, const Order &order) {
  bool isPlain = llvm::equal(order, llvm::seq<int64_t>(0, static_cast<int64_t>(order.size())));
  return isPlain ? DenseI64ArrayAttr() : b.getDenseI64ArrayAttr(order);
}

bool keepsLast(const Order &order) { return order.back() + 1 == static_cast<int64_t>(order.size()); }

/// Reads `operand` where its transpositions read it.
DenseI64ArrayAttr readThrough(OpBuilder &b, OpOperand &operand, DenseI64ArrayAttr given, bool alongLast) {
  Order order = orderOf(given, operand.get());
  Value source = operand.get();
  SmallVector<linalg::TransposeOp> passed; // the nearest first
  while (auto transpose = source.getDefiningOp<linalg::TransposeOp>()) {
    passed.push_back(transpose);
    source = transpose.getInput();
    for (int64_t &place : order)
      place = transpose.getPermutation()[place];
    if (alongLast && !keepsLast(order))
      continue;
    operand.set(source);
    given = attributeOf(b, order);
  }
  for (linalg::TransposeOp transpose : passed)
    if (transpose->use_empty())
      transpose->erase();
  return given;
}

/// Writes what the one transposition that reads the result would make of it.
void writeThrough(IRRewriter &rewriter, AttentionOp op) {
  auto transpose = op->hasOneUse() ? dyn_cast<linalg::TransposeOp>(*op->user_begin()) : nullptr;
  if (!transpose || transpose.getInput() != op.getResult() || transpose->getNumResults() != 1)
    return;
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  Order inverse(permutation.size()), order = orderOf(op.getResultOrderAttr(), op.getResult());
  for (auto [axis, place] : llvm::enumerate(permutation))
    inverse[place] = static_cast<int64_t>(axis);
  for (int64_t &place : order)
    place = inverse[place];
  if (!keepsLast(order))
    return;
  rewriter.modifyOpInPlace(op, [&] {
    op.getResult().setType(cast<RankedTensorType>(transpose->getResult(0).getType()));
    op.setResultOrderAttr(attributeOf(rewriter, order));
  });
  rewriter.replaceOp(transpose, op.getResult());
}

} // namespace

void absorbTranspositions(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  SmallVector<AttentionOp> ops;
  function.walk([&](AttentionOp op) { ops.push_back(op); });
  for (AttentionOp op : ops) {
    if (!isTakenWhole(op))
      continue;
    op.setQueryOrderAttr(
        readThrough(rewriter, op.getQueryMutable(), op.getQueryOrderAttr(), /*alongLast=*/true));
    // Keys and values are read number by number.
    op.setKeyOrderAttr(readThrough(rewriter, op.getKeyMutable(), op.getKeyOrderAttr(), /*alongLast=*/false));
    op.setValueOrderAttr(
        readThrough(rewriter, op.getValueMutable(), op.getValueOrderAttr(), /*alongLast=*/false));
    writeThrough(rewriter, op);
  }
}

} // namespace autotune
