// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// com.microsoft's Attention and MultiHeadAttention: projections, masks in their various forms, past keys and
// values.
#include "frontend/AttentionCore.h"
#include "frontend/MatMul.h"
#include "frontend/OperatorTable.h"
#include "frontend/Scalar.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

namespace autotune {

namespace arith = mlir::arith;
using mlir::Value;

namespace {

/// Sizes that an attention node works on.
struct Sizes {
  int64_t batch, heads, queries, keys; // keys: with the past
  int64_t past = 0;
};

Value concatenated(Builder &b, int64_t axis, llvm::ArrayRef<Value> parts) {
  return b.create<mlir::tensor::ConcatOp>(axis, parts);
}

ElementwiseOperand overScores(Builder &b, Value tensor, llvm::ArrayRef<unsigned> loops) {
  llvm::SmallVector<mlir::AffineExpr> dims;
  for (unsigned loop : loops)
    dims.push_back(b.getAffineDimExpr(loop));
  return {tensor, mlir::AffineMap::get(4, 0, dims, b.getContext()), {}};
}

/// Adds `filter` to the score where `keeps` is false.
Value filtered(Builder &b, Value score, Value keeps, double filter) {
  Value hidden = scalar::add(b, score, scalar::constantLike(b, score, filter));
  return b.create<arith::SelectOp>(keeps, score, hidden);
}

/// A mask of 0 and 1 for keys, read along these loops of the scores.
ScoreTerm keepTerm(Builder &b, Value mask, llvm::ArrayRef<unsigned> loops, double filter) {
  return {overScores(b, mask, loops), [filter](Builder &inner, Value score, Value kept) {
            Value zero = scalar::constantLike(inner, kept, 0);
            return filtered(inner, score, inner.create<arith::CmpIOp>(arith::CmpIPredicate::sgt, kept, zero),
                            filter);
          },
          /*isAddend=*/true};
}

/// Hides the keys before or from a position that each batch has.
ScoreTerm boundTerm(Builder &b, Value positions, bool isEnd, double filter) {
  return {overScores(b, positions, {0}), [isEnd, filter](Builder &inner, Value score, Value bound) {
            Value key =
                inner.create<arith::IndexCastOp>(bound.getType(), inner.create<mlir::linalg::IndexOp>(3));
            auto relation = isEnd ? arith::CmpIPredicate::slt : arith::CmpIPredicate::sge;
            return filtered(inner, score, inner.create<arith::CmpIOp>(relation, key, bound), filter);
          },
          /*isAddend=*/true};
}

/// The forms of a mask: ends, ends and starts, for each key, for each query and key, for the longest
/// sequence.
mlir::LogicalResult addMask(NodeContext &node, size_t index, const Sizes &sizes, AttentionOptions &options) {
  if (!node.hasInput(index))
    return mlir::success();
  Builder &b = node.b;
  Shape shape(node.shape(index));
  double filter = node.floatAttribute("mask_filter_value", -10000);
  if (node.type(index) != ElementType::I32)
    return node.fail("the mask is " + spelling(node.type(index)) + ", expected i32");
  Value mask = node.input(index);
  int64_t batch = sizes.batch, queries = sizes.queries, keys = sizes.keys;
  if (shape == Shape{batch}) {
    options.terms.push_back(boundTerm(b, mask, /*isEnd=*/true, filter));
  } else if (shape == Shape{2 * batch}) {
    options.terms.push_back(boundTerm(b, sliceOf(b, mask, 0, batch, 1), /*isEnd=*/true, filter));
    options.terms.push_back(boundTerm(b, sliceOf(b, mask, batch, batch, 1), /*isEnd=*/false, filter));
  } else if (shape == Shape{batch, keys}) {
    options.terms.push_back(keepTerm(b, mask, {0, 3}, filter));
  } else if (shape == Shape{batch, queries, keys}) {
    options.terms.push_back(keepTerm(b, mask, {0, 2, 3}, filter));
  } else if (shape.size() == 4 && shape[0] == batch && shape[1] == 1 && shape[2] == shape[3] &&
             shape[3] >= keys && shape[2] >= sizes.past + queries) {
    Value part = sliceOf(b, mask, {0, 0, sizes.past, 0}, {batch, 1, queries, keys}, {1, 1, 1, 1});
    options.terms.push_back(keepTerm(b, reshapeTo(b, part, {batch, queries, keys}), {0, 2, 3}, filter));
  } else {
    return node.fail("a mask of shape " + shapeText(shape) + " is not supported for " + llvm::Twine(batch) +
                     " batches of " + llvm::Twine(queries) + " queries and " + llvm::Twine(keys) + " keys");
  }
  return mlir::success();
}

/// A tensor that is added to the scores; batch and heads may be 1.
mlir::LogicalResult addBias(NodeContext &node, size_t index, const Sizes &sizes, AttentionOptions &options) {
  if (!node.hasInput(index))
    return mlir::success();
  Shape whole = {sizes.batch, sizes.heads, sizes.queries, sizes.keys};
  std::optional<Shape> joined = broadcastShape(whole, node.shape(index));
  if (!joined || *joined != whole || node.rank(index) != 4 || node.type(index) != node.type(0))
    return node.fail("attention_bias is " + spelling(node.type(index)) + " of shape " +
                     shapeText(node.shape(index)) + ", expected " + spelling(node.type(0)) +
                     " that broadcasts to " + shapeText(whole));
  ElementType type = node.type(index), wide = accumulatorType(type);
  options.terms.push_back(
      {broadcastOperand(node, index, whole), [type, wide](Builder &b, Value score, Value bias) {
         return scalar::add(b, score, scalar::cast(b, bias, type, wide));
       },
       /*isAddend=*/true});
  return mlir::success();
}

/// Scale, causality, mask and bias of a node.
mlir::FailureOr<AttentionOptions> readOptions(NodeContext &node, const Sizes &sizes, int64_t headSize,
                                              size_t mask, size_t bias) {
  AttentionOptions options;
  options.scale = node.floatAttribute("scale", 0);
  if (options.scale == 0)
    options.scale = 1 / std::sqrt(static_cast<double>(headSize));
  if (node.intAttribute("unidirectional", 0))
    options.causalOffset = sizes.past;
  if (failed(addMask(node, mask, sizes, options)) || failed(addBias(node, bias, sizes, options)))
    return mlir::failure();
  return options;
}

mlir::LogicalResult refuse(NodeContext &node, std::initializer_list<const char *> attributes) {
  for (const char *name : attributes)
    if (node.intAttribute(name, 0) != 0)
      return node.fail("attribute '" + llvm::Twine(name) + "' is not supported");
  return mlir::success();
}

mlir::LogicalResult requireFloats(NodeContext &node, std::initializer_list<size_t> operands) {
  for (size_t index : operands)
    if (node.hasInput(index) && (node.type(index) != node.type(0) || !isFloat(node.type(index))))
      return node.fail("input " + llvm::Twine(index) + " is " + spelling(node.type(index)) + ", expected " +
                       (isFloat(node.type(0)) ? spelling(node.type(0)) : "floats"));
  return mlir::success();
}

/// Hidden sizes of query, key and value, and the input's shape that fits them.
mlir::FailureOr<Shape> hiddenSizes(NodeContext &node, int64_t heads) {
  if (node.rank(0) != 3 || node.rank(1) != 2 || node.shape(1)[0] != node.shape(0)[2])
    return node.fail("input " + shapeText(node.shape(0)) + " and weights " + shapeText(node.shape(1)) +
                     " do not fit");
  int64_t columns = node.shape(1)[1];
  std::vector<int64_t> given =
      node.intsAttribute("qkv_hidden_sizes", {columns / 3, columns / 3, columns / 3});
  bool fits = heads > 0 && given.size() == 3 && given[0] == given[1];
  for (size_t i = 0; fits && i < 3; ++i)
    fits = given[i] > 0 && given[i] % heads == 0;
  if (!fits || given[0] + given[1] + given[2] != columns)
    return node.fail("hidden sizes " + shapeText(given) + " of " + llvm::Twine(heads) +
                     " heads do not fit weights " + shapeText(node.shape(1)));
  if (node.hasInput(2) && node.shape(2) != llvm::ArrayRef<int64_t>(columns))
    return node.fail("bias of shape " + shapeText(node.shape(2)) + ", expected " + llvm::Twine(columns));
  return Shape(given.begin(), given.end());
}

/// input * weights + bias, cut into query, key and value with split heads.
llvm::SmallVector<Value> projected(NodeContext &node, llvm::ArrayRef<int64_t> hidden, int64_t heads) {
  Builder &b = node.b;
  ElementType type = node.type(0), wide = accumulatorType(type);
  Value product = *matrixProduct(node, node.input(0), node.input(1), node.mlirType(wide));
  Shape shape(shapeOf(product));
  if (node.hasInput(2))
    product = elementwise(b, shape, node.mlirType(wide),
                          {broadcastOperand(b, product, shape), broadcastOperand(node, 2, shape)},
                          [&](Builder &inner, mlir::ValueRange v) {
                            return scalar::add(inner, v[0], scalar::cast(inner, v[1], type, wide));
                          });
  product = floatCast(b, product, node.elementType(0));
  llvm::SmallVector<Value> parts;
  Shape offset = {0, 0, 0}, size = shape;
  for (int64_t each : hidden) {
    size[2] = each;
    parts.push_back(splitHeads(b, sliceOf(b, product, offset, size, {1, 1, 1}), heads));
    offset[2] += each;
  }
  return parts;
}

/// input, weights, bias, mask, past, attention bias
mlir::LogicalResult buildAttention(NodeContext &node) {
  int64_t heads = node.intAttribute("num_heads", 0);
  mlir::FailureOr<Shape> hidden = hiddenSizes(node, heads);
  if (failed(hidden) || failed(refuse(node, {"do_rotary", "past_present_share_buffer"})) ||
      failed(requireFloats(node, {0, 1, 2, 4, 5})))
    return mlir::failure();
  Builder &b = node.b;
  int64_t headSize = (*hidden)[0] / heads, valueSize = (*hidden)[2] / heads;
  Sizes sizes{node.shape(0)[0], heads, node.shape(0)[1], node.shape(0)[1]};
  if (node.hasInput(4)) {
    bool fits = node.rank(4) == 5 && headSize == valueSize;
    sizes.past = fits ? node.shape(4)[3] : 0;
    if (!fits || node.shape(4) != llvm::ArrayRef<int64_t>({2, sizes.batch, heads, sizes.past, headSize}))
      return node.fail("past of shape " + shapeText(node.shape(4)) + " does not fit " +
                       llvm::Twine(sizes.batch) + " batches of " + llvm::Twine(heads) + " heads of size " +
                       llvm::Twine(headSize));
    sizes.keys += sizes.past;
  }
  mlir::FailureOr<AttentionOptions> options = readOptions(node, sizes, headSize, 3, 5);
  if (failed(options) || node.failedAlready())
    return mlir::failure();
  llvm::SmallVector<Value> qkv = projected(node, *hidden, heads);
  Shape state = {1, sizes.batch, heads, sizes.past, headSize}, ones(5, 1);
  for (int64_t i = 0; i < 2 && sizes.past > 0; ++i) {
    Value past = sliceOf(b, node.input(4), {i, 0, 0, 0, 0}, state, ones);
    past = reshapeTo(b, past, llvm::ArrayRef<int64_t>(state).drop_front());
    qkv[1 + i] = concatenated(b, 2, {past, qkv[1 + i]});
  }
  node.setResult(0, joinHeads(b, attended(b, qkv[0], qkv[1], qkv[2], *options)));
  if (!node.isOutputUsed(1))
    return mlir::success();
  if (headSize != valueSize)
    return node.fail("present needs keys and values of one size");
  state[3] = sizes.keys;
  node.setResult(1, concatenated(b, 0, {reshapeTo(b, qkv[1], state), reshapeTo(b, qkv[2], state)}));
  return mlir::success();
}

/// [batch, sequence, heads, parts, size] as `parts` tensors [batch, sequence, heads * size].
void unpack(NodeContext &node, size_t index, llvm::SmallVectorImpl<Value> &parts) {
  Shape size(node.shape(index)), offset(5, 0), ones(5, 1);
  int64_t count = size[3];
  size[3] = 1;
  for (offset[3] = 0; offset[3] < count; ++offset[3])
    parts.push_back(reshapeTo(node.b, sliceOf(node.b, node.input(index), offset, size, ones),
                              {size[0], size[1], size[2] * size[4]}));
}

/// Query, key and value as [batch, sequence, hidden], whichever way they are packed; key and value of rank 4
/// stay.
mlir::FailureOr<llvm::SmallVector<Value>> unpackedOperands(NodeContext &node, int64_t heads) {
  llvm::SmallVector<Value> parts;
  auto isPacked = [&](size_t index, int64_t count) {
    return node.rank(index) == 5 && node.shape(index)[2] == heads && node.shape(index)[3] == count;
  };
  bool hasKey = node.hasInput(1), hasValue = node.hasInput(2);
  if (isPacked(0, 3) && !hasKey && !hasValue) {
    unpack(node, 0, parts);
    return parts;
  }
  if (node.rank(0) == 3 && hasKey && isPacked(1, 2) && !hasValue) {
    parts.push_back(node.input(0));
    unpack(node, 1, parts);
    return parts;
  }
  bool plain = node.rank(0) == 3 && hasKey && hasValue && node.rank(1) == node.rank(2) &&
               (node.rank(1) == 3 || node.rank(1) == 4);
  if (!plain)
    return node.fail("query, key and value are neither three tensors nor packed for " + llvm::Twine(heads) +
                     " heads");
  return llvm::SmallVector<Value>{node.input(0), node.input(1), node.input(2)};
}

/// Adds the part of the bias (operand 3) that starts at `offset`.
Value withBias(NodeContext &node, Value tensor, int64_t offset) {
  Builder &b = node.b;
  Shape shape(shapeOf(tensor));
  Value part = sliceOf(b, node.input(3), offset, shape[2], 1);
  return elementwise(b, shape, elementOf(tensor),
                     {broadcastOperand(b, tensor, shape), broadcastOperand(b, part, shape)},
                     [](Builder &inner, mlir::ValueRange v) { return scalar::add(inner, v[0], v[1]); });
}

/// Query, key and value as [batch, heads, sequence, size], with the bias added.
mlir::FailureOr<llvm::SmallVector<Value>> headOperands(NodeContext &node, int64_t heads) {
  mlir::FailureOr<llvm::SmallVector<Value>> parts = unpackedOperands(node, heads);
  if (failed(parts))
    return mlir::failure();
  int64_t offset = 0, total = 0;
  for (Value part : *parts)
    total += shapeOf(part).size() == 3 ? shapeOf(part)[2] : shapeOf(part)[1] * shapeOf(part)[3];
  if (node.hasInput(3) && node.shape(3) != llvm::ArrayRef<int64_t>(total))
    return node.fail("bias of shape " + shapeText(node.shape(3)) + ", expected " + llvm::Twine(total));
  for (Value &part : *parts) {
    Shape shape(shapeOf(part));
    if (shape.size() == 4) {
      // Keys and values from another node's cache come with split heads and without bias.
      if (shape[1] != heads)
        return node.fail("key or value of shape " + shapeText(shape) + ", expected " + llvm::Twine(heads) +
                         " heads");
      continue;
    }
    if (shape[2] % heads != 0 || shape[2] == 0)
      return node.fail("hidden size " + llvm::Twine(shape[2]) + " is no multiple of " + llvm::Twine(heads) +
                       " heads");
    if (node.hasInput(3))
      part = withBias(node, part, offset);
    offset += shape[2];
    part = splitHeads(node.b, part, heads);
  }
  llvm::ArrayRef<int64_t> q = shapeOf((*parts)[0]), k = shapeOf((*parts)[1]), v = shapeOf((*parts)[2]);
  if (q[0] != k[0] || q[0] != v[0] || k[2] != v[2] || q[3] != k[3])
    return node.fail("query " + shapeText(q) + ", key " + shapeText(k) + " and value " + shapeText(v) +
                     " do not fit");
  return parts;
}

/// query, key, value, bias, key padding mask, attention bias, past key, past value
mlir::LogicalResult buildMultiHeadAttention(NodeContext &node) {
  int64_t heads = node.intAttribute("num_heads", 0);
  if (heads < 1)
    return node.fail("num_heads is " + llvm::Twine(heads) + ", expected 1 or more");
  if (failed(requireFloats(node, {0, 1, 2, 3, 5, 6, 7})))
    return mlir::failure();
  if (node.hasInput(8) || node.hasInput(9))
    return node.fail("a past that shares its buffer with the present is not supported");
  mlir::FailureOr<llvm::SmallVector<Value>> qkv = headOperands(node, heads);
  if (failed(qkv))
    return mlir::failure();
  Builder &b = node.b;
  Sizes sizes{shapeOf((*qkv)[0])[0], heads, shapeOf((*qkv)[0])[2], shapeOf((*qkv)[1])[2]};
  if (node.hasInput(6) != node.hasInput(7))
    return node.fail("past key and past value are given only together");
  for (size_t i = 1; i < 3 && node.hasInput(6); ++i) {
    llvm::ArrayRef<int64_t> now = shapeOf((*qkv)[i]), past = node.shape(5 + i);
    if (past.size() != 4 || past[0] != now[0] || past[1] != now[1] || past[3] != now[3] ||
        past[2] != node.shape(6)[2])
      return node.fail("past of shape " + shapeText(past) + " does not fit " + shapeText(now));
    sizes.past = past[2];
    if (sizes.past > 0)
      (*qkv)[i] = concatenated(b, 2, {node.input(5 + i), (*qkv)[i]});
  }
  sizes.keys += sizes.past;
  mlir::FailureOr<AttentionOptions> options = readOptions(node, sizes, shapeOf((*qkv)[0])[3], 4, 5);
  if (failed(options) || node.failedAlready())
    return mlir::failure();
  node.setResult(0, joinHeads(b, attended(b, (*qkv)[0], (*qkv)[1], (*qkv)[2], *options)));
  node.setResult(1, (*qkv)[1]);
  node.setResult(2, (*qkv)[2]);
  return mlir::success();
}

constexpr OperatorEntry kOperators[] = {
    {"com.microsoft", "Attention", 1, 2, 7, buildAttention,
     "no rotary embedding, no past that shares its buffer"},
    {"com.microsoft", "MultiHeadAttention", 1, 1, 10, buildMultiHeadAttention,
     "no past that shares its buffer, no output of scores"},
};

} // namespace

llvm::ArrayRef<OperatorEntry> fusedAttentionOperators() { return kOperators; }

} // namespace autotune
