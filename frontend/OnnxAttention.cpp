// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention of opset 23: softmax(scale * Q K^T, capped and masked) V for groups of heads, with a cache of
// keys and values.
#include "frontend/Normalization.h"
#include "frontend/OperatorTable.h"
#include "frontend/Scalar.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>
#include <limits>

namespace autotune {

namespace arith = mlir::arith;
using mlir::Value;

namespace {

class Attention {
public:
  explicit Attention(NodeContext &node) : node(node), b(node.b) {}

  mlir::LogicalResult build();

private:
  mlir::LogicalResult readOperands();
  mlir::LogicalResult checkHeads();
  mlir::LogicalResult checkMask();
  mlir::FailureOr<Value> heads(size_t operand, int64_t count);
  mlir::FailureOr<Value> withPast(size_t past, Value present);
  Value scores();
  Value capped(Value scores);
  Value masked(Value scores);
  Value product(Value x, Value y);
  ElementwiseOperand maskOperand(llvm::ArrayRef<int64_t> shape);

  NodeContext &node;
  Builder &b;
  bool isFlat = false, isCausal = false;
  double scale = 0, softcap = 0;
  int64_t batch = 0, queryHeads = 0, keyHeads = 0, queries = 0, keys = 0, pastKeys = 0;
  mlir::Type element, wide;
  Value query, key, value; // [batch, heads, length, size]
};

/// Operand Q, K or V as [batch, heads, length, size].
mlir::FailureOr<Value> Attention::heads(size_t operand, int64_t count) {
  llvm::ArrayRef<int64_t> shape = node.shape(operand);
  if (!isFlat)
    return node.input(operand);
  if (count < 1 || shape[2] % count != 0)
    return node.fail(llvm::Twine(count) + " heads do not divide input " + llvm::Twine(operand) +
                     " of shape " + shapeText(shape) + " (q_num_heads and kv_num_heads say how many)");
  Value split = reshapeTo(b, node.input(operand), {shape[0], shape[1], count, shape[2] / count});
  return transposed(b, split, {0, 2, 1, 3});
}

/// The cache, then what is new.
mlir::FailureOr<Value> Attention::withPast(size_t past, Value present) {
  if (!node.hasInput(past))
    return present;
  Shape expected(shapeOf(present));
  if (node.rank(past) == 4)
    expected[2] = node.shape(past)[2];
  if (node.shape(past) != llvm::ArrayRef<int64_t>(expected) || node.type(past) != node.type(0))
    return node.fail("input " + llvm::Twine(past) + " is " + spelling(node.type(past)) + " of shape " +
                     shapeText(node.shape(past)) + ", which does not fit " + shapeText(shapeOf(present)));
  if (expected[2] == 0)
    return present;
  return b.create<mlir::tensor::ConcatOp>(2, mlir::ValueRange{node.input(past), present}).getResult();
}

mlir::LogicalResult Attention::readOperands() {
  int64_t rank = node.rank(0);
  isFlat = rank == 3;
  for (size_t i = 0; i < 3; ++i)
    if (node.rank(i) != rank || (rank != 3 && rank != 4) || !isFloat(node.type(i)) ||
        node.type(i) != node.type(0) || elementCount(node.shape(i)) == 0)
      return node.fail("Q " + shapeText(node.shape(0)) + ", K " + shapeText(node.shape(1)) + ", V " +
                       shapeText(node.shape(2)) +
                       ": expected floats of one type, all of rank 3 or all of rank 4");
  if (node.hasInput(4) != node.hasInput(5))
    return node.fail("past_key and past_value (inputs 4 and 5) only come together");
  element = node.elementType(0);
  bool doubles = node.intAttribute("softmax_precision", 1) == onnxDataType(ElementType::F64);
  wide = doubles ? mlir::Type(b.getF64Type()) : accumulatorType(element);
  isCausal = node.intAttribute("is_causal", 0) != 0;
  softcap = node.floatAttribute("softcap", 0);
  int64_t keyCount = node.intAttribute("kv_num_heads", 0);
  auto q = heads(0, node.intAttribute("q_num_heads", 0)), k = heads(1, keyCount), v = heads(2, keyCount);
  if (failed(q) || failed(k) || failed(v))
    return mlir::failure();
  auto allKeys = withPast(4, *k), allValues = withPast(5, *v);
  if (failed(allKeys) || failed(allValues))
    return mlir::failure();
  query = *q;
  key = *allKeys;
  value = *allValues;
  pastKeys = node.hasInput(4) ? node.shape(4)[2] : 0;
  return mlir::success();
}

mlir::LogicalResult Attention::checkHeads() {
  llvm::ArrayRef<int64_t> q = shapeOf(query), k = shapeOf(key), v = shapeOf(value);
  batch = q[0];
  queryHeads = q[1];
  keyHeads = k[1];
  queries = q[2];
  keys = k[2];
  if (k[0] != batch || v[0] != batch || v[1] != keyHeads || v[2] != keys || k[3] != q[3] ||
      queryHeads % keyHeads != 0)
    return node.fail("queries " + shapeText(q) + ", keys " + shapeText(k) + " and values " + shapeText(v) +
                     " (batch, heads, length, size) do not fit");
  scale = node.floatAttribute("scale", 1 / std::sqrt(static_cast<double>(q[3])));
  return mlir::success();
}

/// Broadcasts to [batch, heads, queries, keys]; it may name fewer keys than there are.
mlir::LogicalResult Attention::checkMask() {
  if (!node.hasInput(3))
    return mlir::success();
  Shape mask(node.shape(3)), whole = {batch, queryHeads, queries, keys};
  if (!mask.empty() && mask.back() < keys)
    mask.back() = keys;
  std::optional<Shape> joined = broadcastShape(mask, whole);
  bool isBool = node.type(3) == ElementType::Bool;
  if (!joined || *joined != whole || (!isBool && node.type(3) != node.type(0)))
    return node.fail("attn_mask is " + spelling(node.type(3)) + " of shape " + shapeText(node.shape(3)) +
                     ", expected bool or " + spelling(node.type(0)) + " that broadcasts to " +
                     shapeText(whole));
  return mlir::success();
}

/// [n, m, k] x [n, k, l], summed in the wide type.
Value Attention::product(Value x, Value y) {
  Value init = zeroTensor(b, {shapeOf(x)[0], shapeOf(x)[1], shapeOf(y)[2]}, wide);
  return b.create<mlir::linalg::BatchMatmulOp>(mlir::ValueRange{x, y}, mlir::ValueRange{init}).getResult(0);
}

/// The heads of a group are rows of one product with the keys they share.
Value Attention::scores() {
  int64_t size = shapeOf(query)[3], rows = queryHeads / keyHeads * queries;
  Shape shape(shapeOf(query));
  Value scaled = elementwise(b, shape, element, broadcastOperand(b, query, shape),
                             [&](Builder &inner, mlir::ValueRange v) {
                               return scalar::mul(inner, v[0], scalar::constantLike(inner, v[0], scale));
                             });
  Value left = reshapeTo(b, scaled, {batch * keyHeads, rows, size});
  Value right = transposed(b, reshapeTo(b, key, {batch * keyHeads, keys, size}), {0, 2, 1});
  return reshapeTo(b, product(left, right), {batch, queryHeads, queries, keys});
}

/// softcap * tanh(x / softcap)
Value Attention::capped(Value scores) {
  if (softcap <= 0)
    return scores;
  Shape shape(shapeOf(scores));
  return elementwise(b, shape, wide, broadcastOperand(b, scores, shape),
                     [&](Builder &inner, mlir::ValueRange v) {
                       Value cap = scalar::constantLike(inner, v[0], softcap);
                       Value small = inner.create<arith::DivFOp>(v[0], cap);
                       return scalar::mul(inner, inner.create<mlir::math::TanhOp>(small), cap);
                     });
}

ElementwiseOperand Attention::maskOperand(llvm::ArrayRef<int64_t> shape) {
  Value mask = node.input(3);
  int64_t rank = node.rank(3), last = rank == 0 ? 1 : node.shape(3).back();
  if (last != 1 && last < keys) {
    Shape zeros(rank, 0), high(rank, 0);
    high.back() = keys - last;
    bool isBool = node.type(3) == ElementType::Bool;
    mask = padded(b, mask, zeros, high, isBool ? 0 : -std::numeric_limits<double>::infinity());
  }
  return broadcastOperand(b, mask, shape);
}

/// Adds the mask, and minus infinity where a query must not see a key.
Value Attention::masked(Value scores) {
  bool hasMask = node.hasInput(3), isBool = hasMask && node.type(3) == ElementType::Bool;
  if (!hasMask && !isCausal)
    return scores;
  Shape shape(shapeOf(scores));
  llvm::SmallVector<ElementwiseOperand> operands = {broadcastOperand(b, scores, shape)};
  if (hasMask)
    operands.push_back(maskOperand(shape));
  return elementwise(b, shape, wide, operands, [&](Builder &inner, mlir::ValueRange v) -> Value {
    Value x = v[0], hidden = inner.create<arith::ConstantOp>(scalar::lowest(inner, wide, ElementType::F32));
    if (isBool)
      x = inner.create<arith::SelectOp>(v[1], x, hidden);
    else if (hasMask)
      x = scalar::add(inner, x,
                      v[1].getType() == wide ? v[1] : inner.create<arith::ExtFOp>(wide, v[1]).getResult());
    if (!isCausal)
      return x;
    Value last = inner.create<arith::AddIOp>(inner.create<mlir::linalg::IndexOp>(2),
                                             inner.create<arith::ConstantIndexOp>(pastKeys));
    Value sees =
        inner.create<arith::CmpIOp>(arith::CmpIPredicate::ule, inner.create<mlir::linalg::IndexOp>(3), last);
    return inner.create<arith::SelectOp>(sees, x, hidden);
  });
}

mlir::LogicalResult Attention::build() {
  if (failed(readOperands()) || failed(checkHeads()) || failed(checkMask()))
    return mlir::failure();
  int64_t shown = node.intAttribute("qk_matmul_output_mode", 0);
  if (shown < 0 || shown > 3)
    return node.fail("qk_matmul_output_mode is " + llvm::Twine(shown) + ", expected 0 to 3");
  Value stages[4];
  stages[0] = scores();
  stages[1] = capped(stages[0]);
  stages[2] = masked(stages[1]);
  stages[3] = softmaxed(b, stages[2], 3, /*coerces=*/false, /*logarithm=*/false);
  int64_t rows = queryHeads / keyHeads * queries, size = shapeOf(value)[3];
  // Weights of the values' type: the product takes operands of one type.
  Value weights = reshapeTo(b, floatCast(b, stages[3], element), {batch * keyHeads, rows, keys});
  Value sums = product(weights, reshapeTo(b, value, {batch * keyHeads, keys, size}));
  Value result = reshapeTo(b, floatCast(b, sums, element), {batch, queryHeads, queries, size});
  if (isFlat)
    result = reshapeTo(b, transposed(b, result, {0, 2, 1, 3}), {batch, queries, queryHeads * size});
  ElementType type = node.type(0);
  node.setResult(0, result, type);
  node.setResult(1, key, type);
  node.setResult(2, value, type);
  if (node.isOutputUsed(3))
    node.setResult(3, floatCast(b, stages[shown], element), type);
  return mlir::success();
}

mlir::LogicalResult buildAttention(NodeContext &node) { return Attention(node).build(); }

constexpr OperatorEntry kOperators[] = {
    {"", "Attention", 23, 3, 6, buildAttention},
};

} // namespace

llvm::ArrayRef<OperatorEntry> attentionOperators() { return kOperators; }

} // namespace autotune
