// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RotaryEmbedding of opset 23: pairs of elements of each head, turned by an angle that depends on the
// position.
#include "frontend/OperatorTable.h"
#include "frontend/Scalar.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace autotune {

namespace arith = mlir::arith;
using mlir::Value;

namespace {

struct Rotary {
  int64_t batch, heads, length, size;
  int64_t rotated; // elements of each head that turn; the others stay
  bool isFlat, interleaved, hasPositions;
};

mlir::FailureOr<Rotary> describe(NodeContext &node) {
  llvm::ArrayRef<int64_t> x = node.shape(0);
  Rotary r;
  r.isFlat = x.size() == 3;
  r.interleaved = node.intAttribute("interleaved", 0) != 0;
  r.hasPositions = node.hasInput(3);
  int64_t heads = node.intAttribute("num_heads", 0);
  if (!isFloat(node.type(0)) || node.type(1) != node.type(0) || node.type(2) != node.type(0) ||
      (x.size() != 3 && x.size() != 4) || (r.isFlat && (heads < 1 || x[2] % heads != 0)))
    return node.fail("X is " + spelling(node.type(0)) + " of shape " + shapeText(x) +
                     ", expected floats of rank 4, or of rank 3 that num_heads divides, like the caches");
  r.batch = x[0];
  r.heads = r.isFlat ? heads : x[1];
  r.length = r.isFlat ? x[1] : x[2];
  r.size = r.isFlat ? x[2] / heads : x[3];
  r.rotated = node.intAttribute("rotary_embedding_dim", 0);
  if (r.rotated == 0)
    r.rotated = r.size;
  if (r.rotated < 2 || r.rotated > r.size || r.rotated % 2 != 0)
    return node.fail("rotary_embedding_dim " + llvm::Twine(r.rotated) + " does not fit heads of " +
                     llvm::Twine(r.size));
  int64_t half = r.rotated / 2;
  llvm::ArrayRef<int64_t> cosine = node.shape(1);
  bool fits = r.hasPositions ? cosine.size() == 2 && cosine[0] > 0 && cosine[1] == half &&
                                   node.shape(3) == llvm::ArrayRef<int64_t>({r.batch, r.length}) &&
                                   !isFloat(node.type(3))
                             : cosine == llvm::ArrayRef<int64_t>({r.batch, r.length, half});
  if (!fits || node.shape(2) != cosine)
    return node.fail("caches of shape " + shapeText(cosine) + " and " + shapeText(node.shape(2)) +
                     " do not fit " + llvm::Twine(r.batch) + " sequences of " + llvm::Twine(r.length) +
                     " with angles for " + llvm::Twine(half) + " pairs");
  return r;
}

/// [batch, length, half]: the rows of a cache that the positions name.
Value angles(NodeContext &node, const Rotary &r, size_t cache) {
  if (!r.hasPositions)
    return node.input(cache);
  Builder &b = node.b;
  Value table = node.input(cache);
  int64_t rows = node.shape(cache)[0], half = r.rotated / 2;
  mlir::AffineMap map =
      mlir::AffineMap::get(3, 0, {b.getAffineDimExpr(0), b.getAffineDimExpr(1)}, b.getContext());
  ElementwiseOperand positions{node.input(3), map, {}};
  return elementwise(b, {r.batch, r.length, half}, elementOf(table), positions,
                     [&](Builder &inner, mlir::ValueRange v) -> Value {
                       Value row = inner.create<arith::IndexCastOp>(inner.getIndexType(), v[0]);
                       row = inner.create<arith::MaxSIOp>(row, inner.create<arith::ConstantIndexOp>(0));
                       row =
                           inner.create<arith::MinSIOp>(row, inner.create<arith::ConstantIndexOp>(rows - 1));
                       Value column = inner.create<mlir::linalg::IndexOp>(2);
                       return inner.create<mlir::tensor::ExtractOp>(table, mlir::ValueRange{row, column});
                     });
}

/// x as [batch, length, heads, …] or [batch, heads, length, …]; the trailing dimensions are those of `inner`.
Shape shapeWith(const Rotary &r, llvm::ArrayRef<int64_t> inner) {
  Shape shape = r.isFlat ? Shape{r.batch, r.length, r.heads} : Shape{r.batch, r.heads, r.length};
  shape.append(inner.begin(), inner.end());
  return shape;
}

/// One element of each pair after the turn: x * cos - y * sin, or x * sin + y * cos.
Value turned(Builder &b, const Rotary &r, Value x, Value y, Value cosine, Value sine, bool second) {
  Shape shape = shapeWith(r, r.rotated / 2);
  mlir::AffineExpr batch = b.getAffineDimExpr(0), pair = b.getAffineDimExpr(3);
  mlir::AffineExpr position = b.getAffineDimExpr(r.isFlat ? 1 : 2);
  mlir::AffineMap map = mlir::AffineMap::get(4, 0, {batch, position, pair}, b.getContext());
  return elementwise(b, shape, elementOf(x),
                     {broadcastOperand(b, x, shape), broadcastOperand(b, y, shape),
                      ElementwiseOperand{cosine, map, {}}, ElementwiseOperand{sine, map, {}}},
                     [&](Builder &inner, mlir::ValueRange v) {
                       Value first = scalar::mul(inner, v[0], v[second ? 3 : 2]);
                       Value other = scalar::mul(inner, v[1], v[second ? 2 : 3]);
                       return second ? scalar::add(inner, first, other) : scalar::sub(inner, first, other);
                     });
}

mlir::LogicalResult buildRotaryEmbedding(NodeContext &node) {
  mlir::FailureOr<Rotary> r = describe(node);
  if (failed(r))
    return mlir::failure();
  Builder &b = node.b;
  int64_t half = r->rotated / 2, rest = r->size - r->rotated;
  Shape whole = shapeWith(*r, r->size), zeros(4, 0), ones(4, 1);
  Value x = reshapeTo(b, node.input(0), whole);
  auto part = [&](int64_t start, int64_t size) {
    Shape offset = zeros;
    offset[3] = start;
    return sliceOf(b, x, offset, shapeWith(*r, size), ones);
  };
  Value first, second;
  if (r->interleaved) {
    Value pairs = reshapeTo(b, part(0, r->rotated), shapeWith(*r, {half, 2}));
    auto side = [&](int64_t which) {
      Shape offset(5, 0);
      offset[4] = which;
      Value column = sliceOf(b, pairs, offset, shapeWith(*r, {half, 1}), Shape(5, 1));
      return reshapeTo(b, column, shapeWith(*r, half));
    };
    first = side(0);
    second = side(1);
  } else {
    first = part(0, half);
    second = part(half, half);
  }
  Value cosine = angles(node, *r, 1), sine = angles(node, *r, 2);
  Value real = turned(b, *r, first, second, cosine, sine, /*second=*/false);
  Value imaginary = turned(b, *r, first, second, cosine, sine, /*second=*/true);
  Value rotated;
  if (r->interleaved) {
    Shape column = shapeWith(*r, {half, 1});
    llvm::SmallVector<Value> sides = {reshapeTo(b, real, column), reshapeTo(b, imaginary, column)};
    rotated = reshapeTo(b, b.create<mlir::tensor::ConcatOp>(4, sides), shapeWith(*r, r->rotated));
  } else {
    rotated = b.create<mlir::tensor::ConcatOp>(3, mlir::ValueRange{real, imaginary});
  }
  if (rest > 0)
    rotated = b.create<mlir::tensor::ConcatOp>(3, mlir::ValueRange{rotated, part(r->rotated, rest)});
  node.setResult(0, reshapeTo(b, rotated, node.shape(0)));
  return mlir::success();
}

constexpr OperatorEntry kOperators[] = {
    {"", "RotaryEmbedding", 23, 3, 4, buildRotaryEmbedding},
};

} // namespace

llvm::ArrayRef<OperatorEntry> rotaryEmbeddingOperators() { return kOperators; }

} // namespace autotune
