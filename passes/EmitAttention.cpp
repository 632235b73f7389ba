// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Query rows are lanes: transposed once, they stay so until the result is stored.

#include "passes/IdeaTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;

namespace autotune {
namespace {

/// Squares are transposed by shuffles of vectors that every x86 processor has.
constexpr int64_t kSquare = 8;

/// Lanes of the vectors that `rows` rows take: rows beyond the last are zeros.
int64_t lanesFor(int64_t rows) { return rows <= 8 ? 8 : 16; }

Value number(Builder &b, double value) {
  return b.create<arith::ConstantOp>(b.getF32FloatAttr(static_cast<float>(value)));
}

Value scratch(Builder &b, int64_t count, int64_t rows) {
  auto type = MemRefType::get({count, static_cast<int64_t>(llvm::alignTo(rows, 16))}, b.getF32Type());
  return b.create<memref::AllocOp>(type, b.getI64IntegerAttr(64));
}

/// Positions in a tensor whose axes stand in `order`.
Indices inOrder(ArrayRef<Value> logical, std::optional<ArrayRef<int64_t>> order) {
  Indices stored(logical);
  if (order)
    for (auto [axis, place] : llvm::enumerate(*order))
      stored[place] = logical[axis];
  return stored;
}

/// Positions in an operand that broadcasts to the scores.
Indices broadcastIndices(Builder &b, Value operand, ArrayRef<Value> scores) {
  ArrayRef<int64_t> shape = shapeOf(operand);
  Indices indices;
  for (auto [axis, extent] : llvm::enumerate(shape))
    indices.push_back(extent == 1 ? constantIndex(b, 0) : scores[scores.size() - shape.size() + axis]);
  return indices;
}

bool differsByRow(Value operand) {
  ArrayRef<int64_t> shape = shapeOf(operand);
  return shape.size() >= 2 && shape[shape.size() - 2] > 1;
}

/// A matrix with rows along one axis and elements along the last.
using ElementIndices = function_ref<Indices(Builder &, Value row, Value element)>;

} // namespace

/// What is known of one tile while it is emitted.
struct AttentionTile::Tile {
  AttentionTile &kernel;
  mutable AttentionOp op; // a handle, whose accessors are not const
  Indices batch, keyBatch;
  Value row;    // the first one
  int64_t rows; // of which exist
  int64_t lanes, groups;

  using Lanes = SmallVector<Value>; // one value for each row: `groups` vectors

  Value group(Builder &b, int64_t g) const { return constantIndex(b, g * lanes); }
  Value load(Builder &b, Value buffer, Value at, int64_t g) const {
    return b.create<vector::LoadOp>(vectorOf(b, lanes), buffer, ValueRange{at, group(b, g)});
  }
  void store(Builder &b, Value vector, Value buffer, Value at, int64_t g) const {
    b.create<vector::StoreOp>(vector, buffer, ValueRange{at, group(b, g)});
  }
  Lanes all(Builder &b, double value) const { return Lanes(groups, splat(b, lanes, value)); }
  Value broadcast(Builder &b, Value number) const {
    return b.create<vector::BroadcastOp>(vectorOf(b, lanes), number);
  }

  Indices keyIndices(Value column, Value element) const {
    return inOrder(llvm::to_vector(llvm::concat<const Value>(keyBatch, Indices{column, element})),
                   op.getKeyOrder());
  }
  Indices valueIndices(Value column, Value element) const {
    return inOrder(llvm::to_vector(llvm::concat<const Value>(keyBatch, Indices{column, element})),
                   op.getValueOrder());
  }
  Indices rowIndices(Value at, Value element) const {
    return llvm::to_vector(llvm::concat<const Value>(batch, Indices{at, element}));
  }

  void pack(Builder &b, Value tensor, ElementIndices at, Value first, int64_t count, double scale,
            Value buffer) const;
  Lanes gather(Builder &b, Value operand, Value column) const;
  Value masked(Builder &b, Value score, int64_t g, Value column, Value local) const;
  Lanes scoreTile(Builder &b, Value first, Value column, int64_t count, ValueRange greatest) const;
  Lanes scores(Builder &b, Value first, int64_t count, Value tiles) const;
  Lanes exponentials(Builder &b, Value count, ValueRange greatest) const;
  void weigh(Builder &b, Value first, Value count, ValueRange correction) const;
  Indices block(Builder &b, Value first, int64_t count, ValueRange state) const;
  Value finish(Builder &b, ValueRange sums, Value dest) const;

  bool isSkipping() const;
  Value readable(Builder &b) const;
  bool inOneBlock() const { return kernel.tiling.columns >= kernel.columns; }
};

/// Stores rows of `tensor` as lanes: buffer[element][row] = scale * tensor[row][first + element].
void AttentionTile::Tile::pack(Builder &b, Value tensor, ElementIndices at, Value first, int64_t count,
                               double scale, Value buffer) const {
  int64_t whole = count / kSquare * kSquare;
  for (int64_t r = 0; r < lanes * groups; r += kSquare) {
    loopOver(b, 0, whole, kSquare, {}, [&](Builder &inner, Value element, ValueRange) -> Indices {
      Lanes square;
      Value from = inner.createOrFold<arith::AddIOp>(first, element);
      for (int64_t i = 0; i < kSquare; ++i)
        square.push_back(r + i < rows
                             ? readVector(inner, tensor, at(inner, plus(inner, row, r + i), from), kSquare)
                             : splat(inner, kSquare, 0));
      for (auto [i, column] : llvm::enumerate(transposedSquare(inner, square))) {
        Value scaled = column;
        if (scale != 1)
          scaled = inner.create<arith::MulFOp>(column, splat(inner, kSquare, scale));
        inner.create<vector::StoreOp>(
            scaled, buffer,
            ValueRange{plus(inner, element, static_cast<int64_t>(i)), constantIndex(inner, r)});
      }
      return {};
    });
  }
  loopOver(b, whole, count, 1, {}, [&](Builder &inner, Value element, ValueRange) -> Indices {
    Value from = inner.createOrFold<arith::AddIOp>(first, element);
    for (int64_t r = 0; r < lanes * groups; ++r) {
      Value x = number(inner, 0);
      if (r < rows) {
        x = inner.create<tensor::ExtractOp>(tensor, at(inner, plus(inner, row, r), from));
        x = inner.create<arith::MulFOp>(x, number(inner, scale));
      }
      inner.create<memref::StoreOp>(x, buffer, ValueRange{element, constantIndex(inner, r)});
    }
    return {};
  });
}

/// True where columns beyond the diagonal of the last row need not be looked at: their weights are 0.
bool AttentionTile::Tile::isSkipping() const {
  // Scores differ by far less than this; the importer takes such numbers for minus infinity as well.
  constexpr double kNone = -1e4;
  double fill = op.getFillValue();
  return op.getCausal() &&
         (std::isinf(fill) ? fill < 0 : fill <= kNone && static_cast<int64_t>(*op.getCausal()) >= 0);
}

/// Columns that the last row of the tile may read.
Value AttentionTile::Tile::readable(Builder &b) const {
  Value all = constantIndex(b, kernel.columns);
  if (!isSkipping())
    return all;
  Value last = plus(b, row, rows + static_cast<int64_t>(*op.getCausal()));
  return b.create<arith::MaxSIOp>(constantIndex(b, 0), b.create<arith::MinSIOp>(all, last));
}

/// A column of a mask that differs by row, in lanes.
AttentionTile::Tile::Lanes AttentionTile::Tile::gather(Builder &b, Value operand, Value column) const {
  auto element = cast<RankedTensorType>(operand.getType()).getElementType();
  Lanes vectors;
  for (int64_t g = 0; g < groups; ++g) {
    SmallVector<Value> values;
    for (int64_t lane = g * lanes; lane < (g + 1) * lanes; ++lane) {
      // Rows that do not exist read what the last one reads.
      Value at = plus(b, row, std::min(lane, rows - 1));
      values.push_back(
          b.create<tensor::ExtractOp>(operand, broadcastIndices(b, operand, rowIndices(at, column))));
    }
    vectors.push_back(b.create<vector::FromElementsOp>(VectorType::get({lanes}, element), values));
  }
  return vectors;
}

/// Bias, diagonal and mask on the scores of one column. `local` is its place in the buffer, where a bias that
/// differs by row is already.
Value AttentionTile::Tile::masked(Builder &b, Value score, int64_t g, Value column, Value local) const {
  if (Value bias = op.getBias()) {
    Value addend;
    if (differsByRow(bias))
      addend = load(b, kernel.scores, local, g);
    else
      addend =
          broadcast(b, b.create<tensor::ExtractOp>(bias, broadcastIndices(b, bias, rowIndices(row, column))));
    score = b.create<arith::AddFOp>(score, addend);
  }
  if (op.getCausal()) {
    // Column beyond row + causal: row - (first row of the tile) is below column - causal - (first row).
    Value distance = b.create<arith::SubIOp>(plus(b, column, -static_cast<int64_t>(*op.getCausal())), row);
    Value bound = b.create<arith::IndexCastOp>(b.getI32Type(), distance);
    SmallVector<int32_t> numbers;
    for (int64_t lane = g * lanes; lane < (g + 1) * lanes; ++lane)
      numbers.push_back(static_cast<int32_t>(lane));
    auto type = VectorType::get({lanes}, b.getI32Type());
    Value laneNumbers = b.create<arith::ConstantOp>(DenseElementsAttr::get(type, ArrayRef<int32_t>(numbers)));
    Value beyond = b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, laneNumbers,
                                           b.create<vector::BroadcastOp>(type, bound));
    Value filled = b.create<arith::AddFOp>(score, splat(b, lanes, op.getFillValue()));
    score = b.create<arith::SelectOp>(beyond, filled, score);
  }
  if (Value mask = op.getMask()) {
    Value fill = splat(b, lanes, op.getFillValue()), keep;
    if (differsByRow(mask)) {
      keep = gather(b, mask, column)[g];
    } else {
      Value bit = b.create<tensor::ExtractOp>(mask, broadcastIndices(b, mask, rowIndices(row, column)));
      keep = b.create<vector::BroadcastOp>(VectorType::get({lanes}, b.getI1Type()), bit);
    }
    score = b.create<arith::SelectOp>(keep, score, fill);
  }
  return score;
}

/// Scores of `count` columns side by side in registers; returns the greatest so far of each row.
AttentionTile::Tile::Lanes AttentionTile::Tile::scoreTile(Builder &b, Value first, Value local, int64_t count,
                                                          ValueRange greatest) const {
  Value column = b.createOrFold<arith::AddIOp>(first, local);
  Lanes zeros(count * groups, splat(b, lanes, 0));
  Indices sums = loopOver(b, 0, kernel.depth, 1, zeros, [&](Builder &inner, Value d, ValueRange carried) {
    Lanes query;
    Indices next;
    for (int64_t g = 0; g < groups; ++g)
      query.push_back(load(inner, kernel.queries, d, g));
    for (int64_t i = 0; i < count; ++i) {
      Value key = inner.create<tensor::ExtractOp>(op.getKey(), keyIndices(plus(inner, column, i), d));
      Value inLanes = broadcast(inner, key);
      for (int64_t g = 0; g < groups; ++g)
        next.push_back(inner.create<vector::FMAOp>(inLanes, query[g], carried[i * groups + g]));
    }
    return next;
  });
  Lanes most(greatest);
  for (int64_t i = 0; i < count; ++i)
    for (int64_t g = 0; g < groups; ++g) {
      Value at = plus(b, local, i);
      Value score = masked(b, sums[i * groups + g], g, plus(b, column, i), at);
      most[g] = b.create<arith::MaximumFOp>(most[g], score);
      store(b, score, kernel.scores, at, g);
    }
  return most;
}

/// Scores of the columns [first, first + count), of which those in the first `tiles` register tiles are
/// wanted.
AttentionTile::Tile::Lanes AttentionTile::Tile::scores(Builder &b, Value first, int64_t count,
                                                       Value tiles) const {
  if (Value bias = op.getBias(); bias && differsByRow(bias))
    pack(
        b, bias,
        [&](Builder &inner, Value at, Value column) {
          return broadcastIndices(inner, bias, rowIndices(at, column));
        },
        first, count, 1, kernel.scores);
  int64_t step = std::min(kernel.tiling.values, count), whole = count / step;
  Lanes greatest = all(b, -std::numeric_limits<double>::infinity());
  Value zero = constantIndex(b, 0), last = b.createOrFold<arith::MinSIOp>(tiles, constantIndex(b, whole));
  auto emitTiles = [&](Value from, Value to, int64_t width, ValueRange carried) {
    return loopOver(b, from, to, 1, carried, [&](Builder &inner, Value tile, ValueRange most) -> Indices {
      Value local = inner.create<arith::MulIOp>(tile, constantIndex(inner, step));
      Lanes next = scoreTile(inner, first, local, width, most);
      return Indices(next);
    });
  };
  Indices most = emitTiles(zero, last, step, greatest);
  if (count % step)
    most = emitTiles(constantIndex(b, whole), tiles, count % step, most);
  return Lanes(most);
}

/// exp(score - greatest) in place; returns the sum of each row.
AttentionTile::Tile::Lanes AttentionTile::Tile::exponentials(Builder &b, Value count,
                                                             ValueRange greatest) const {
  Lanes zeros = all(b, 0);
  return loopOver(
      b, constantIndex(b, 0), count, 1, zeros, [&](Builder &inner, Value i, ValueRange sums) -> Indices {
        Indices next;
        for (int64_t g = 0; g < groups; ++g) {
          Value shifted = inner.create<arith::SubFOp>(load(inner, kernel.scores, i, g), greatest[g]);
          Value weight = inner.create<math::ExpOp>(shifted);
          store(inner, weight, kernel.scores, i, g);
          next.push_back(inner.create<arith::AddFOp>(sums[g], weight));
        }
        return next;
      });
}

/// Adds the weighted values of the columns [first, first + count) to the results, which `correction` scales
/// first. Without a correction the results start here.
void AttentionTile::Tile::weigh(Builder &b, Value first, Value count, ValueRange correction) const {
  auto emitTile = [&](Builder &at, Value element, int64_t values) {
    Lanes sums;
    for (int64_t j = 0; j < values; ++j)
      for (int64_t g = 0; g < groups; ++g)
        sums.push_back(
            correction.empty()
                ? splat(at, lanes, 0)
                : at.create<arith::MulFOp>(load(at, kernel.results, plus(at, element, j), g), correction[g])
                      .getResult());
    Indices result =
        loopOver(at, constantIndex(at, 0), count, 1, sums, [&](Builder &inner, Value i, ValueRange carried) {
          Lanes weights;
          Indices next;
          Value column = inner.create<arith::AddIOp>(first, i);
          for (int64_t g = 0; g < groups; ++g)
            weights.push_back(load(inner, kernel.scores, i, g));
          for (int64_t j = 0; j < values; ++j) {
            Value value =
                inner.create<tensor::ExtractOp>(op.getValue(), valueIndices(column, plus(inner, element, j)));
            Value inLanes = broadcast(inner, value);
            for (int64_t g = 0; g < groups; ++g)
              next.push_back(inner.create<vector::FMAOp>(inLanes, weights[g], carried[j * groups + g]));
          }
          return next;
        });
    for (int64_t j = 0; j < values; ++j)
      for (int64_t g = 0; g < groups; ++g)
        store(at, result[j * groups + g], kernel.results, plus(at, element, j), g);
  };
  int64_t step = std::min(kernel.tiling.values, kernel.width), whole = kernel.width / step * step;
  loopOver(b, 0, whole, step, {}, [&](Builder &inner, Value element, ValueRange) -> Indices {
    emitTile(inner, element, step);
    return {};
  });
  if (whole < kernel.width)
    emitTile(b, constantIndex(b, whole), kernel.width - whole);
}

/// One block of columns: updates greatest scores, sums and results. `state` holds the greatest, then the
/// sums.
Indices AttentionTile::Tile::block(Builder &b, Value first, int64_t count, ValueRange state) const {
  int64_t step = std::min(kernel.tiling.values, count);
  Value tiles = constantIndex(b, llvm::divideCeil(count, step)), used = constantIndex(b, count);
  if (isSkipping()) {
    Value left = b.create<arith::MaxSIOp>(constantIndex(b, 0), b.create<arith::SubIOp>(readable(b), first));
    Value wanted = b.create<arith::CeilDivSIOp>(left, constantIndex(b, step));
    tiles = b.create<arith::MinSIOp>(tiles, wanted);
    used = b.create<arith::MinSIOp>(used, b.create<arith::MulIOp>(tiles, constantIndex(b, step)));
  }
  Lanes greatest = scores(b, first, count, tiles), correction, safe;
  Value none = splat(b, lanes, -std::numeric_limits<double>::infinity()), zero = splat(b, lanes, 0);
  for (int64_t g = 0; g < groups; ++g) {
    greatest[g] = b.create<arith::MaximumFOp>(state[g], greatest[g]);
    // A row that may read nothing so far: its weights are exp(-inf - 0), not exp(-inf + inf).
    Value empty = b.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, greatest[g], none);
    safe.push_back(b.create<arith::SelectOp>(empty, zero, greatest[g]));
    if (!inOneBlock())
      correction.push_back(b.create<math::ExpOp>(b.create<arith::SubFOp>(state[g], safe[g])));
  }
  Lanes sums = exponentials(b, used, safe);
  if (!inOneBlock())
    for (int64_t g = 0; g < groups; ++g)
      sums[g] = b.create<arith::AddFOp>(b.create<arith::MulFOp>(state[groups + g], correction[g]), sums[g]);
  weigh(b, first, used, correction);
  Indices next(greatest);
  next.append(sums.begin(), sums.end());
  return next;
}

/// Divides by the sums and stores rows as rows again.
Value AttentionTile::Tile::finish(Builder &b, ValueRange sums, Value dest) const {
  Value zero = constantIndex(b, 0);
  for (int64_t g = 0; g < groups; ++g)
    store(b, b.create<arith::DivFOp>(splat(b, lanes, 1), sums[g]), kernel.factors, zero, g);
  auto resultIndices = [&](Value at, Value element) {
    return inOrder(rowIndices(at, element), op.getResultOrder());
  };
  int64_t whole = kernel.width / kSquare * kSquare;
  auto part = VectorType::get({kSquare}, b.getF32Type());
  for (int64_t r = 0; r < rows; r += kSquare) {
    Value lane = constantIndex(b, r);
    Value factor = b.create<vector::LoadOp>(part, kernel.factors, ValueRange{zero, lane});
    dest = loopOver(
        b, 0, whole, kSquare, dest, [&](Builder &inner, Value element, ValueRange carried) -> Indices {
          Lanes square;
          for (int64_t j = 0; j < kSquare; ++j) {
            Value x =
                inner.create<vector::LoadOp>(part, kernel.results, ValueRange{plus(inner, element, j), lane});
            square.push_back(inner.create<arith::MulFOp>(x, factor));
          }
          Value into = carried[0];
          for (auto [i, vector] : llvm::enumerate(transposedSquare(inner, square)))
            if (r + static_cast<int64_t>(i) < rows)
              into = writeVector(inner, vector, into,
                                 resultIndices(plus(inner, row, r + static_cast<int64_t>(i)), element));
          return {into};
        })[0];
  }
  return loopOver(
      b, whole, kernel.width, 1, dest, [&](Builder &inner, Value element, ValueRange carried) -> Indices {
        Value into = carried[0];
        for (int64_t r = 0; r < rows; ++r) {
          Value lane = constantIndex(inner, r);
          Value x = inner.create<memref::LoadOp>(kernel.results, ValueRange{element, lane});
          Value factor =
              inner.create<memref::LoadOp>(kernel.factors, ValueRange{constantIndex(inner, 0), lane});
          into = inner.create<tensor::InsertOp>(inner.create<arith::MulFOp>(x, factor), into,
                                                resultIndices(plus(inner, row, r), element));
        }
        return {into};
      })[0];
}

AttentionTile::AttentionTile(Builder &b, AttentionOp op, const AttentionTiling &tiling)
    : op(op), tiling(tiling) {
  SmallVector<int64_t> key = op.getKeyShape(), value = op.getValueShape();
  columns = key[key.size() - 2];
  depth = key.back();
  width = value.back();
  this->tiling.columns = std::min(tiling.columns, columns);
  queries = scratch(b, depth, tiling.rows);
  scores = scratch(b, this->tiling.columns, tiling.rows);
  results = scratch(b, width, tiling.rows);
  factors = scratch(b, 1, tiling.rows);
}

Value AttentionTile::emit(Builder &b, ValueRange batch, Value row, int64_t rows, Value dest) {
  int64_t lanes = lanesFor(rows);
  Tile tile{*this, op,   Indices(batch), Indices(batch),
            row,   rows, lanes,          static_cast<int64_t>(llvm::divideCeil(rows, lanes))};
  if (!batch.empty()) {
    int64_t heads = op.getQueryShape()[batch.size() - 1], keyHeads = op.getKeyShape()[batch.size() - 1];
    if (heads != keyHeads)
      tile.keyBatch.back() = b.createOrFold<arith::DivUIOp>(batch.back(), constantIndex(b, heads / keyHeads));
  }
  double scale = static_cast<float>(op.getScale().convertToDouble());
  tile.pack(
      b, op.getQuery(),
      [&](Builder &, Value at, Value element) {
        return inOrder(tile.rowIndices(at, element), op.getQueryOrder());
      },
      constantIndex(b, 0), depth, scale, queries);
  Indices state(tile.all(b, -std::numeric_limits<double>::infinity()));
  llvm::append_range(state, tile.all(b, 0));
  if (tile.inOneBlock()) {
    state = tile.block(b, constantIndex(b, 0), columns, state);
  } else {
    loopOver(b, 0, width, 1, {}, [&](Builder &inner, Value element, ValueRange) -> Indices {
      for (int64_t g = 0; g < tile.groups; ++g)
        tile.store(inner, splat(inner, lanes, 0), results, element, g);
      return {};
    });
    int64_t whole = columns / tiling.columns * tiling.columns;
    Value end = b.createOrFold<arith::MinSIOp>(tile.readable(b), constantIndex(b, whole));
    state = loopOver(b, constantIndex(b, 0), end, tiling.columns, state,
                     [&](Builder &inner, Value first, ValueRange carried) {
                       return tile.block(inner, first, tiling.columns, carried);
                     });
    if (whole < columns)
      state = tile.block(b, constantIndex(b, whole), columns - whole, state);
  }
  return tile.finish(b, ValueRange(state).drop_front(tile.groups), dest);
}

} // namespace autotune
