// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// com.microsoft's RotaryEmbedding, and the rotation itself.
#include "frontend/RotaryEmbedding.h"

#include "frontend/AttentionCore.h"
#include "frontend/ImportContext.h"
#include "frontend/OperatorTable.h"
#include "frontend/Scalar.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace autotune {

namespace arith = mlir::arith;
using mlir::Value;

Value rowsAtPositions(Builder &b, Value table, Value positions) {
  Shape at(shapeOf(positions)), shape = {at[0], at[1], shapeOf(table)[1]};
  ElementwiseOperand rows{positions, b.getMultiDimIdentityMap(3).dropResult(2), {}};
  return elementwise(b, shape, elementOf(table), rows, [&](Builder &inner, mlir::ValueRange v) -> Value {
    Value row = inner.create<arith::IndexCastOp>(inner.getIndexType(), v[0]);
    Value zero = inner.create<arith::ConstantIndexOp>(0);
    Value last = inner.create<arith::ConstantIndexOp>(shapeOf(table)[0] - 1);
    Value inside = inner.create<arith::MinSIOp>(inner.create<arith::MaxSIOp>(row, zero), last);
    return inner.create<mlir::tensor::ExtractOp>(
        table, mlir::ValueRange{inside, inner.create<mlir::linalg::IndexOp>(2)});
  });
}

/// first * cosine + sign * second * sine, in f32 for the half types.
static Value turned(Builder &b, Value first, Value second, Value cosine, Value sine, bool adds) {
  Shape shape(shapeOf(first)), angles(shapeOf(cosine));
  ElementType type = fromMlirType(elementOf(first)), wide = accumulatorType(type);
  // The same angles for all heads.
  angles.insert(angles.begin() + 1, 1);
  auto angle = [&](Value tensor) { return broadcastOperand(b, reshapeTo(b, tensor, angles), shape); };
  return elementwise(
      b, shape, elementOf(first),
      {broadcastOperand(b, first, shape), broadcastOperand(b, second, shape), angle(cosine), angle(sine)},
      [&](Builder &inner, mlir::ValueRange v) {
        llvm::SmallVector<Value> x;
        for (Value value : v)
          x.push_back(scalar::cast(inner, value, type, wide));
        Value kept = scalar::mul(inner, x[0], x[2]), crossed = scalar::mul(inner, x[1], x[3]);
        Value sum = adds ? scalar::add(inner, kept, crossed) : scalar::sub(inner, kept, crossed);
        return scalar::cast(inner, sum, wide, type);
      });
}

Value rotated(Builder &b, Value tensor, Value cosine, Value sine, RotaryOptions options) {
  Shape shape(shapeOf(tensor)), half = shape, offset(4, 0), step(4, 1);
  int64_t pairs = shapeOf(cosine).back();
  half[3] = pairs;
  // The features of each pair: neighbours, or the two halves.
  step[3] = options.interleaved ? 2 : 1;
  Value first = sliceOf(b, tensor, offset, half, step);
  offset[3] = options.interleaved ? 1 : pairs;
  Value second = sliceOf(b, tensor, offset, half, step);
  Value low = turned(b, first, second, cosine, sine, /*adds=*/false);
  Value high = turned(b, second, first, cosine, sine, /*adds=*/true);
  Shape whole = half;
  whole[3] = 2 * pairs;
  Value result;
  if (options.interleaved) {
    Shape single = half;
    single.push_back(1);
    llvm::SmallVector<Value> parts = {reshapeTo(b, low, single), reshapeTo(b, high, single)};
    result = reshapeTo(b, b.create<mlir::tensor::ConcatOp>(4, parts), whole);
  } else {
    llvm::SmallVector<Value> parts = {low, high};
    result = b.create<mlir::tensor::ConcatOp>(3, parts);
  }
  if (whole[3] == shape[3])
    return result;
  Shape rest = shape, from(4, 0);
  from[3] = whole[3];
  rest[3] = shape[3] - whole[3];
  llvm::SmallVector<Value> parts = {result, sliceOf(b, tensor, from, rest, {1, 1, 1, 1})};
  return b.create<mlir::tensor::ConcatOp>(3, parts);
}

namespace {

/// The angles' tables at the positions of operand 1: one start for all, or each position of each batch.
mlir::FailureOr<std::pair<Value, Value>> anglesOf(NodeContext &node, int64_t batch, int64_t sequence) {
  Builder &b = node.b;
  llvm::ArrayRef<int64_t> positions = node.shape(1), table = node.shape(2);
  bool isStart = elementCount(positions) == 1 && positions.size() <= 1;
  bool each = positions == llvm::ArrayRef<int64_t>({batch, sequence});
  if ((!isStart && !each) || node.type(1) != ElementType::I64)
    return node.fail("position ids are " + spelling(node.type(1)) + " of shape " + shapeText(positions) +
                     ", expected i64, one or " + llvm::Twine(batch) + "x" + llvm::Twine(sequence));
  Value ids = node.input(1);
  if (!each) {
    Value start = reshapeTo(b, ids, {});
    Shape row = {1, sequence};
    ids = elementwise(b, row, b.getI64Type(), broadcastOperand(b, start, row),
                      [](Builder &inner, mlir::ValueRange v) -> Value {
                        Value step = inner.create<arith::IndexCastOp>(inner.getI64Type(),
                                                                      inner.create<mlir::linalg::IndexOp>(1));
                        return inner.create<arith::AddIOp>(v[0], step);
                      });
  }
  if (table[0] < 1)
    return node.fail("the tables have no rows");
  return std::make_pair(rowsAtPositions(b, node.input(2), ids), rowsAtPositions(b, node.input(3), ids));
}

/// X, position ids, cosine and sine tables [positions, pairs]
mlir::LogicalResult buildRotaryEmbedding(NodeContext &node) {
  Shape shape(node.shape(0));
  int64_t heads = node.intAttribute("num_heads", 0), width = node.intAttribute("rotary_embedding_dim", 0);
  bool interleaved = node.intAttribute("interleaved", 0) != 0;
  if (node.floatAttribute("scale", 1) != 1 || node.intAttribute("is_packed_batching", 0) != 0)
    return node.fail("scale other than 1 and packed batches are not supported");
  bool tables = node.rank(2) == 2 && node.shape(2) == node.shape(3) && node.type(2) == node.type(0) &&
                node.type(3) == node.type(0) && isFloat(node.type(0));
  if (!tables || (shape.size() != 3 && shape.size() != 4))
    return node.fail("input " + shapeText(shape) + " of " + spelling(node.type(0)) + " with tables " +
                     shapeText(node.shape(2)) + " and " + shapeText(node.shape(3)));
  int64_t pairs = node.shape(2)[1], sequence = shape.size() == 3 ? shape[1] : shape[2];
  if (shape.size() == 4)
    heads = shape[1];
  else if (heads == 0)
    heads = pairs > 0 ? shape[2] / (2 * pairs) : 0;
  int64_t size = shape.size() == 4 ? shape[3] : heads > 0 && shape[2] % heads == 0 ? shape[2] / heads : 0;
  if (size < 2 * pairs || size == 0 || pairs == 0 || (width != 0 && width != 2 * pairs))
    return node.fail("tables of " + llvm::Twine(pairs) + " angles do not fit input " + shapeText(shape) +
                     " with " + llvm::Twine(heads) + " heads and rotary_embedding_dim " + llvm::Twine(width));
  auto angles = anglesOf(node, shape[0], sequence);
  if (failed(angles) || node.failedAlready())
    return mlir::failure();
  Value input = shape.size() == 3 ? splitHeads(node.b, node.input(0), heads) : node.input(0);
  Value result = rotated(node.b, input, angles->first, angles->second, {interleaved});
  node.setResult(0, shape.size() == 3 ? joinHeads(node.b, result) : result);
  return mlir::success();
}

constexpr OperatorEntry kOperators[] = {
    {"com.microsoft", "RotaryEmbedding", 1, 4, 4, buildRotaryEmbedding, "scale 1, no packed batches"},
};

} // namespace

llvm::ArrayRef<OperatorEntry> rotaryOperators() { return kOperators; }

} // namespace autotune
