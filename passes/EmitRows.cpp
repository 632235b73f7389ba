// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes over one row in vectors; what is left at its end is read in halves, quarters, … of a vector.

#include "passes/IdeaTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;

namespace autotune {
namespace {

using vector::CombiningKind;

/// One row: positions before it, and its length in vectors.
class Row {
public:
  Row(ValueRange outer, int64_t length, int64_t lanes) : outer(outer), length(length), lanes(lanes) {}

  Indices at(Value position) const {
    Indices indices(outer);
    indices.push_back(position);
    return indices;
  }

  /// Calls `part(position, lanes)` for the parts that whole vectors leave over.
  void forRest(Builder &b, function_ref<void(Value, int64_t)> part) const {
    int64_t position = length / lanes * lanes;
    while (position < length) {
      auto width = std::min<int64_t>(lanes, llvm::bit_floor(static_cast<uint64_t>(length - position)));
      part(constantIndex(b, position), width);
      position += width;
    }
  }

  using Term = function_ref<std::pair<Value, Value>(Builder &, Value position, int64_t lanes, Value dest)>;
  /// Folds a term of each element. A term is a vector, and `dest` with what it has stored.
  std::pair<Value, Value> fold(Builder &b, CombiningKind kind, double start, Value dest, Term term) const {
    Value total = b.create<arith::ConstantOp>(b.getF32FloatAttr(static_cast<float>(start)));
    if (length >= lanes) {
      Indices carried = loopOver(b, 0, length / lanes * lanes, lanes, {splat(b, lanes, start), dest},
                                 [&](Builder &inner, Value position, ValueRange values) -> Indices {
                                   auto [vector, stored] = term(inner, position, lanes, values[1]);
                                   return {combine(inner, kind, vector, values[0]), stored};
                                 });
      total = b.create<vector::ReductionOp>(kind, carried[0]);
      dest = carried[1];
    }
    forRest(b, [&](Value position, int64_t width) {
      auto [vector, stored] = term(b, position, width, dest);
      total = combine(b, kind, b.create<vector::ReductionOp>(kind, vector), total);
      dest = stored;
    });
    return {total, dest};
  }

  /// Stores a vector computed for each position.
  Value store(Builder &b, Value dest,
              function_ref<Value(Builder &, Value position, int64_t lanes, Value dest)> compute) const {
    auto put = [&](Builder &at, Value position, int64_t width, Value into) {
      return writeVector(at, compute(at, position, width, into), into, this->at(position));
    };
    dest = loopOver(b, 0, length / lanes * lanes, lanes, dest,
                    [&](Builder &inner, Value position, ValueRange values) -> Indices {
                      return {put(inner, position, lanes, values[0])};
                    })[0];
    forRest(b, [&](Value position, int64_t width) { dest = put(b, position, width, dest); });
    return dest;
  }

private:
  static Value combine(Builder &b, CombiningKind kind, Value x, Value y) {
    if (kind == CombiningKind::ADD)
      return b.create<arith::AddFOp>(x, y);
    return b.create<arith::MaximumFOp>(x, y);
  }

  ValueRange outer;
  int64_t length, lanes;
};

Value inLanes(Builder &b, Value number, int64_t lanes) {
  return b.create<vector::BroadcastOp>(vectorOf(b, lanes), number);
}

Value numberOf(Builder &b, double value) {
  return b.create<arith::ConstantOp>(b.getF32FloatAttr(static_cast<float>(value)));
}

/// A scale or bias: one number, or one for each position.
Value readParameter(Builder &b, Value tensor, Value position, int64_t lanes) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Indices indices(type.getRank(), constantIndex(b, 0));
  if (type.getNumElements() == 1)
    return inLanes(b, b.create<tensor::ExtractOp>(tensor, indices), lanes);
  indices.back() = position;
  return readVector(b, tensor, indices, lanes);
}

} // namespace

Value emitSoftmaxRow(Builder &b, linalg::SoftmaxOp op, ValueRange outer, int64_t lanes, Value dest) {
  Value input = op.getInput();
  Row row(outer, shapeOf(input).back(), lanes);
  auto [greatest, unchanged] =
      row.fold(b, CombiningKind::MAXIMUMF, -std::numeric_limits<double>::infinity(), dest,
               [&](Builder &inner, Value position, int64_t width, Value into) {
                 return std::pair(readVector(inner, input, row.at(position), width), into);
               });
  Value most = greatest;
  auto [sum, stored] = row.fold(
      b, CombiningKind::ADD, 0, unchanged, [&](Builder &inner, Value position, int64_t width, Value into) {
        Value x = readVector(inner, input, row.at(position), width);
        Value shifted = inner.create<arith::SubFOp>(x, inLanes(inner, most, width));
        Value exponential = inner.create<math::ExpOp>(shifted);
        return std::pair(exponential, writeVector(inner, exponential, into, row.at(position)));
      });
  Value factor = b.create<arith::DivFOp>(numberOf(b, 1), sum);
  return row.store(b, stored, [&](Builder &inner, Value position, int64_t width, Value into) -> Value {
    Value x = readVector(inner, into, row.at(position), width);
    return inner.create<arith::MulFOp>(x, inLanes(inner, factor, width));
  });
}

Value emitLayerNormRow(Builder &b, LayerNormOp op, ValueRange outer, int64_t lanes, Value dest) {
  Value input = op.getInput(), mean;
  int64_t length = shapeOf(input).back();
  Row row(outer, length, lanes);
  Value share = numberOf(b, 1.0 / static_cast<double>(length));
  auto centered = [&](Builder &inner, Value position, int64_t width) -> Value {
    Value x = readVector(inner, input, row.at(position), width);
    return mean ? inner.create<arith::SubFOp>(x, inLanes(inner, mean, width)) : x;
  };
  if (!op.getRms()) {
    Value sum = row.fold(b, CombiningKind::ADD, 0, dest,
                         [&](Builder &inner, Value position, int64_t width, Value into) {
                           return std::pair(readVector(inner, input, row.at(position), width), into);
                         })
                    .first;
    mean = b.create<arith::MulFOp>(sum, share);
  }
  Value squares = row.fold(b, CombiningKind::ADD, 0, dest,
                           [&](Builder &inner, Value position, int64_t width, Value into) {
                             Value x = centered(inner, position, width);
                             return std::pair<Value, Value>(inner.create<arith::MulFOp>(x, x), into);
                           })
                      .first;
  Value variance = b.create<arith::MulFOp>(squares, share);
  Value guarded = b.create<arith::AddFOp>(variance, numberOf(b, op.getEpsilon().convertToDouble()));
  Value inverse = b.create<arith::DivFOp>(numberOf(b, 1), b.create<math::SqrtOp>(guarded));
  return row.store(b, dest, [&](Builder &inner, Value position, int64_t width, Value) -> Value {
    Value y = inner.create<arith::MulFOp>(centered(inner, position, width), inLanes(inner, inverse, width));
    if (op.getScale())
      y = inner.create<arith::MulFOp>(y, readParameter(inner, op.getScale(), position, width));
    if (op.getBias())
      y = inner.create<arith::AddFOp>(y, readParameter(inner, op.getBias(), position, width));
    return y;
  });
}

} // namespace autotune
