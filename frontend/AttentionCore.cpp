// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scores, softmax and weighted sum of scaled dot-product attention.
#include "frontend/AttentionCore.h"

#include "dialect/AutotuneDialect.h"
#include "frontend/Normalization.h"
#include "frontend/Scalar.h"

#include <limits>

namespace autotune {

namespace arith = mlir::arith;
using mlir::Value;

/// [B,M,K] x [B,K,N], summed in the accumulator type.
static Value batchProduct(Builder &b, Value x, Value y) {
  mlir::Type wide = accumulatorType(elementOf(x));
  Value init = zeroTensor(b, {shapeOf(x)[0], shapeOf(x)[1], shapeOf(y)[2]}, wide);
  return b.create<mlir::linalg::BatchMatmulOp>(mlir::ValueRange{x, y}, mlir::ValueRange{init}).getResult(0);
}

static Value changedScores(Builder &b, Value scores, const AttentionOptions &options) {
  Shape shape(shapeOf(scores));
  llvm::SmallVector<ElementwiseOperand> operands = {broadcastOperand(b, scores, shape)};
  for (const ScoreTerm &term : options.terms)
    operands.push_back(term.operand);
  return elementwise(b, shape, elementOf(scores), operands, [&](Builder &inner, mlir::ValueRange v) {
    Value score = scalar::mul(inner, v[0], scalar::constantLike(inner, v[0], options.scale));
    for (auto [term, operand] : llvm::zip_equal(options.terms, v.drop_front()))
      score = term.apply(inner, score, operand);
    if (!options.causalOffset)
      return score;
    Value query = inner.create<mlir::linalg::IndexOp>(2), key = inner.create<mlir::linalg::IndexOp>(3);
    Value last =
        inner.create<arith::AddIOp>(query, inner.create<arith::ConstantIndexOp>(*options.causalOffset));
    Value hidden = inner.create<arith::CmpIOp>(arith::CmpIPredicate::sgt, key, last);
    // The least finite number: a row of which every key is hidden is an average, not NaN.
    Value least = scalar::constantLike(inner, score, -static_cast<double>(std::numeric_limits<float>::max()));
    return inner.create<arith::SelectOp>(hidden, least, score).getResult();
  });
}

/// The sum of the terms over the loops that they differ along; columns always, since terms may ask for
/// theirs.
static Value biasOf(Builder &b, const AttentionOptions &options, llvm::ArrayRef<int64_t> scores,
                    mlir::Type element) {
  Shape shape(scores.size(), 1);
  shape.back() = scores.back();
  llvm::SmallVector<ElementwiseOperand> operands;
  for (const ScoreTerm &term : options.terms) {
    operands.push_back(term.operand);
    for (size_t loop = 0; loop < shape.size() && term.operand.map; ++loop)
      if (term.operand.map.isFunctionOfDim(loop))
        shape[loop] = scores[loop];
  }
  mlir::Type wide = accumulatorType(element);
  Value bias = elementwise(b, shape, wide, operands, [&](Builder &inner, mlir::ValueRange v) {
    Value sum = scalarConstant(inner, wide, 0);
    for (auto [term, operand] : llvm::zip_equal(options.terms, v))
      sum = term.apply(inner, sum, operand);
    return sum;
  });
  return floatCast(b, bias, element);
}

static Value attentionOp(Builder &b, Value query, Value key, Value value, const AttentionOptions &options) {
  Shape shape(shapeOf(query)), scores(shape);
  scores.back() = shapeOf(key)[2];
  shape.back() = shapeOf(value).back();
  Value bias = options.terms.empty() ? Value() : biasOf(b, options, scores, elementOf(query));
  mlir::IntegerAttr causal;
  mlir::FloatAttr fill;
  if (options.causalOffset) {
    causal = b.getI64IntegerAttr(*options.causalOffset);
    // The least finite number: a row of which every key is hidden is an average, not NaN.
    fill = b.getF64FloatAttr(-static_cast<double>(std::numeric_limits<float>::max()));
  }
  mlir::DenseI64ArrayAttr asDescribed;
  return b.create<AttentionOp>(mlir::RankedTensorType::get(shape, elementOf(query)), query, key, value, bias,
                               /*mask=*/Value(), b.getF64FloatAttr(options.scale), causal, fill, asDescribed,
                               asDescribed, asDescribed, asDescribed);
}

Value attended(Builder &b, Value query, Value key, Value value, const AttentionOptions &options) {
  if (llvm::all_of(options.terms, [](const ScoreTerm &term) { return term.isAddend; }))
    return attentionOp(b, query, key, value, options);
  Shape q(shapeOf(query)), k(shapeOf(key)), v(shapeOf(value));
  mlir::Type element = elementOf(query);
  int64_t pairs = q[0] * q[1];
  Value turned = transposed(b, reshapeTo(b, key, {pairs, k[2], k[3]}), {0, 2, 1});
  Value scores = reshapeTo(b, batchProduct(b, reshapeTo(b, query, {pairs, q[2], q[3]}), turned),
                           {q[0], q[1], q[2], k[2]});
  Value weights = softmaxed(b, changedScores(b, scores, options), 3, /*coerces=*/false, /*logarithm=*/false);
  Value rows = reshapeTo(b, floatCast(b, weights, element), {pairs, q[2], k[2]});
  Value sums = batchProduct(b, rows, reshapeTo(b, value, {pairs, v[2], v[3]}));
  return reshapeTo(b, floatCast(b, sums, element), {q[0], q[1], q[2], v[3]});
}

Value splitHeads(Builder &b, Value tensor, int64_t heads) {
  Shape shape(shapeOf(tensor));
  Value view = reshapeTo(b, tensor, {shape[0], shape[1], heads, shape[2] / heads});
  return transposed(b, view, {0, 2, 1, 3});
}

Value joinHeads(Builder &b, Value tensor) {
  Shape shape(shapeOf(tensor));
  return reshapeTo(b, transposed(b, tensor, {0, 2, 1, 3}), {shape[0], shape[2], shape[1] * shape[3]});
}

} // namespace autotune
