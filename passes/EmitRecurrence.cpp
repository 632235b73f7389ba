// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One loop over the steps; in it one over hidden units, whose gates are summed in registers and never stored.

#include "dialect/RecurrentUnit.h"
#include "passes/IdeaTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace autotune {
namespace {

using Vectors = SmallVector<Value>;

Value scratch(Builder &b, int64_t slots, int64_t rows, int64_t hidden) {
  auto type = MemRefType::get({slots, rows, hidden}, b.getF32Type());
  return b.create<memref::AllocOp>(type, b.getI64IntegerAttr(64));
}

/// A loop in steps that are all whole: the last one begins earlier where `step` does not divide `count`.
Indices loopWhole(Builder &b, int64_t count, int64_t step, ValueRange carried, LoopBody body) {
  return loopOver(b, 0, count, step, carried, [&](Builder &inner, Value index, ValueRange values) {
    if (count % step)
      index = inner.create<arith::MinSIOp>(index, constantIndex(inner, count - step));
    return body(inner, index, values);
  });
}

} // namespace

/// What is known while the steps of some rows are emitted.
struct RecurrenceTile::Run {
  RecurrenceTile &kernel;
  mutable RecurrenceOp op; // a handle, whose accessors are not const
  RecurrentUnit unit;
  Value direction, row; // the first one
  int64_t rows;
  // Of the step: when it is, and which slots hold the state before and after it.
  Value time, before, after;

  /// One vector of units of one row; positions of rows count from the first.
  struct Place {
    Value row, unit;
  };
  /// Places side by side in registers: every row with every block of units.
  struct Tile {
    Vectors rows, blocks, units;
    Value number; // of the tile among those of the rows
    Place at(size_t r, size_t j) const { return {rows[r], units[j]}; }
  };
  /// Some gates' weights times a state.
  struct Product {
    int64_t first, gates;
    Value state, slot;
  };

  bool isLstm() const { return kernel.cells != nullptr; }
  bool multipliesState() const { return kernel.updates != nullptr; }

  Value load(Builder &b, Value buffer, Value slot, Place place) const {
    return b.create<vector::LoadOp>(vectorOf(b, kernel.lanes), buffer,
                                    ValueRange{slot, place.row, place.unit});
  }
  void store(Builder &b, Value vector, Value buffer, Value slot, Place place) const {
    b.create<vector::StoreOp>(vector, buffer, ValueRange{slot, place.row, place.unit});
  }
  Value rowOf(Builder &b, Place place) const { return b.createOrFold<arith::AddIOp>(row, place.row); }

  Value firstUnit(Builder &b, Value block) const;
  Value input(Builder &b, Place place, int64_t gate) const;
  Value weight(Builder &b, const Tile &tile, size_t j, Value depth, int64_t gate) const;
  Value ofDirection(Builder &b, Value tensor, Place place, int64_t offset) const;
  Value start(Builder &b, Place place, int64_t gate) const;
  Vectors starts(Builder &b, const Tile &tile, const Product &product) const;
  Vectors accumulated(Builder &b, const Tile &tile, const Product &product, Value from, Value to,
                      ValueRange sums) const;
  Vectors waiting(Builder &b, const Tile &tile, const Product &product) const;
  void wait(Builder &b, const Tile &tile, ValueRange sums) const;
  void sumInBlocks(Builder &b, const Tile &units, const Product &product) const;

  Value inTurn(Builder &b, Value block, int64_t blocks) const;
  using TileBody = function_ref<Value(Builder &, const Tile &, Value dest)>;
  Value forRows(Builder &b, const Tile &units, Value dest, TileBody body) const;
  using SumBody = function_ref<Value(Builder &, Place, ArrayRef<Value> sums, Value dest)>;
  Value forSums(Builder &b, const Product &product, Value dest, SumBody body) const;
  Value forPlaces(Builder &b, Value dest, function_ref<Value(Builder &, Place, Value dest)> body) const;

  Value kept(Builder &b, Place place, Value fresh, Value stale) const;
  Value finish(Builder &b, Place place, ArrayRef<Value> sums, Value dest) const;
  Value nextState(Builder &b, Place place, ArrayRef<Value> sums) const;
  void storeReset(Builder &b, Place place, ArrayRef<Value> sums) const;
  Value step(Builder &b, Value dest) const;

  void begin(Builder &b) const;
  Value timeOf(Builder &b, Value index);
  Value end(Builder &b, Value last, Value dest) const;
};

/// The last block ends with the last unit.
Value RecurrenceTile::Run::firstUnit(Builder &b, Value block) const {
  Value first = b.createOrFold<arith::MulIOp>(block, constantIndex(b, kernel.lanes));
  if (kernel.hidden % kernel.lanes == 0)
    return first;
  return b.createOrFold<arith::MinSIOp>(first, constantIndex(b, kernel.hidden - kernel.lanes));
}

Value RecurrenceTile::Run::input(Builder &b, Place place, int64_t gate) const {
  Value element = plus(b, place.unit, gate * kernel.hidden);
  return readVector(b, op.getInput(), {time, rowOf(b, place), direction, element}, kernel.lanes);
}

Value RecurrenceTile::Run::weight(Builder &b, const Tile &tile, size_t j, Value depth, int64_t gate) const {
  Indices indices = {direction, depth, plus(b, tile.units[j], gate * kernel.hidden)};
  if (op.getBlock() > 0)
    indices = {direction, tile.blocks[j], depth, constantIndex(b, gate), constantIndex(b, 0)};
  return readVector(b, op.getWeight(), indices, kernel.lanes);
}

/// Of a tensor [directions, n * hidden].
Value RecurrenceTile::Run::ofDirection(Builder &b, Value tensor, Place place, int64_t offset) const {
  return readVector(b, tensor, {direction, plus(b, place.unit, offset)}, kernel.lanes);
}

/// What a sum of products with the state starts from.
Value RecurrenceTile::Run::start(Builder &b, Place place, int64_t gate) const {
  if (!op.getLinearBeforeReset() || gate < 2)
    return input(b, place, gate);
  return op.getStateBias() ? ofDirection(b, op.getStateBias(), place, 0) : splat(b, kernel.lanes, 0);
}

/// What the sums of a tile start from: gates of one place are neighbours.
Vectors RecurrenceTile::Run::starts(Builder &b, const Tile &tile, const Product &product) const {
  Vectors vectors;
  for (size_t r = 0; r < tile.rows.size(); ++r)
    for (size_t j = 0; j < tile.units.size(); ++j)
      for (int64_t gate = product.first; gate < product.first + product.gates; ++gate)
        vectors.push_back(start(b, tile.at(r, j), gate));
  return vectors;
}

/// Adds the products with the numbers [from, to) of the state to `sums`.
Vectors RecurrenceTile::Run::accumulated(Builder &b, const Tile &tile, const Product &product, Value from,
                                         Value to, ValueRange sums) const {
  size_t planes = tile.units.size(), gates = static_cast<size_t>(product.gates);
  return loopOver(b, from, to, 1, sums, [&](Builder &inner, Value depth, ValueRange carried) {
    Vectors state;
    for (Value r : tile.rows) {
      Value number = inner.create<memref::LoadOp>(product.state, ValueRange{product.slot, r, depth});
      state.push_back(inner.create<vector::BroadcastOp>(vectorOf(inner, kernel.lanes), number));
    }
    Indices next(carried);
    for (size_t j = 0; j < planes; ++j)
      for (size_t g = 0; g < gates; ++g) {
        Value factor = weight(inner, tile, j, depth, product.first + static_cast<int64_t>(g));
        for (size_t r = 0; r < state.size(); ++r) {
          Value &sum = next[(r * planes + j) * gates + g];
          sum = inner.create<vector::FMAOp>(state[r], factor, sum);
        }
      }
    return next;
  });
}

/// Every other step walks from the last block to the first: weights that the step before read last are still
/// in the cache. Where blocks share units, the last one must be the last.
Value RecurrenceTile::Run::inTurn(Builder &b, Value block, int64_t blocks) const {
  if (kernel.hidden % kernel.lanes != 0)
    return block;
  Value mirrored = b.create<arith::SubIOp>(constantIndex(b, blocks - kernel.planes), block);
  Value isEven = b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, before, constantIndex(b, 0));
  return b.create<arith::SelectOp>(isEven, block, mirrored);
}

Value RecurrenceTile::Run::forRows(Builder &b, const Tile &units, Value dest, TileBody body) const {
  int64_t together = std::min(kernel.tiling.rows, rows);
  return loopOver(b, 0, rows, together, dest,
                  [&](Builder &inner, Value index, ValueRange carried) -> Indices {
                    Tile tile = units;
                    tile.number = index;
                    Value first = index;
                    if (rows % together)
                      first = inner.create<arith::MinSIOp>(index, constantIndex(inner, rows - together));
                    for (int64_t r = 0; r < together; ++r)
                      tile.rows.push_back(plus(inner, first, r));
                    return {body(inner, tile, carried[0])};
                  })[0];
}

/// Sums of a tile that wait in memory.
Vectors RecurrenceTile::Run::waiting(Builder &b, const Tile &tile, const Product &product) const {
  Vectors sums;
  for (size_t i = 0; i < tile.rows.size() * tile.units.size() * static_cast<size_t>(product.gates); ++i)
    sums.push_back(b.create<vector::LoadOp>(
        vectorOf(b, kernel.lanes), kernel.sums,
        ValueRange{tile.number, constantIndex(b, static_cast<int64_t>(i)), constantIndex(b, 0)}));
  return sums;
}

void RecurrenceTile::Run::wait(Builder &b, const Tile &tile, ValueRange sums) const {
  for (auto [i, sum] : llvm::enumerate(sums))
    b.create<vector::StoreOp>(
        sum, kernel.sums,
        ValueRange{tile.number, constantIndex(b, static_cast<int64_t>(i)), constantIndex(b, 0)});
}

/// Sums for all rows, for some numbers of the state after the other: the weights of those are read for all
/// rows while they are in the L1 cache.
void RecurrenceTile::Run::sumInBlocks(Builder &b, const Tile &units, const Product &product) const {
  Value none = constantIndex(b, 0), end = constantIndex(b, kernel.hidden);
  forRows(b, units, none, [&](Builder &inner, const Tile &tile, Value) {
    wait(inner, tile, starts(inner, tile, product));
    return none;
  });
  loopOver(b, 0, kernel.hidden, kernel.tiling.depth, {},
           [&](Builder &outer, Value from, ValueRange) -> Indices {
             Value to = outer.create<arith::MinSIOp>(plus(outer, from, kernel.tiling.depth), end);
             forRows(outer, units, none, [&](Builder &inner, const Tile &tile, Value) {
               wait(inner, tile, accumulated(inner, tile, product, from, to, waiting(inner, tile, product)));
               return none;
             });
             return {};
           });
}

/// Rows inside: weights are read for all of them while they are in a cache.
Value RecurrenceTile::Run::forSums(Builder &b, const Product &product, Value dest, SumBody body) const {
  auto blocks = static_cast<int64_t>(llvm::divideCeil(kernel.hidden, kernel.lanes));
  return loopWhole(
      b, blocks, kernel.planes, dest, [&](Builder &outer, Value block, ValueRange carried) -> Indices {
        Tile units;
        block = inTurn(outer, block, blocks);
        for (int64_t j = 0; j < kernel.planes; ++j) {
          units.blocks.push_back(plus(outer, block, j));
          units.units.push_back(firstUnit(outer, units.blocks.back()));
        }
        if (kernel.sums)
          sumInBlocks(outer, units, product);
        return {forRows(outer, units, carried[0], [&](Builder &inner, const Tile &tile, Value into) {
          Vectors sums = kernel.sums
                             ? waiting(inner, tile, product)
                             : accumulated(inner, tile, product, constantIndex(inner, 0),
                                           constantIndex(inner, kernel.hidden), starts(inner, tile, product));
          size_t gates = static_cast<size_t>(product.gates), planes = tile.units.size();
          for (size_t i = 0; i < tile.rows.size() * planes; ++i)
            into = body(inner, tile.at(i / planes, i % planes), ArrayRef<Value>(sums).slice(i * gates, gates),
                        into);
          return into;
        })};
      })[0];
}

Value RecurrenceTile::Run::forPlaces(Builder &b, Value dest,
                                     function_ref<Value(Builder &, Place, Value)> body) const {
  return loopOver(b, 0, rows, 1, dest, [&](Builder &outer, Value r, ValueRange carried) {
    return loopWhole(outer, kernel.hidden, kernel.lanes, carried,
                     [&](Builder &inner, Value first, ValueRange values) -> Indices {
                       return {body(inner, {r, first}, values[0])};
                     });
  })[0];
}

/// `fresh` for sequences that have not ended, `stale` for others.
Value RecurrenceTile::Run::kept(Builder &b, Place place, Value fresh, Value stale) const {
  Value length = b.create<tensor::ExtractOp>(op.getLengths(), rowOf(b, place));
  Value now = b.create<arith::IndexCastOp>(length.getType(), time);
  Value runs = b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, now, length);
  return b.create<arith::SelectOp>(runs, fresh, stale);
}

/// The new hidden state; the new cell state, if there is one, is stored.
Value RecurrenceTile::Run::nextState(Builder &b, Place place, ArrayRef<Value> sums) const {
  if (isLstm()) {
    auto peephole = [&](int64_t which) -> Value {
      return op.getPeepholes() ? ofDirection(b, op.getPeepholes(), place, which * kernel.hidden) : Value();
    };
    Value old = load(b, kernel.cells, before, place);
    Value cell = unit.nextCell(b, {sums[0], sums[2], sums[3], peephole(0), peephole(2)}, old);
    store(b, op.getLengths() ? kept(b, place, cell, old) : cell, kernel.cells, after, place);
    return unit.shownCell(b, sums[1], cell, peephole(1));
  }
  if (op.getKind() == RecurrentCell::Rnn)
    return unit.gate(b, 0, sums[0]);
  Value update, candidate;
  if (multipliesState()) {
    update = load(b, kernel.updates, constantIndex(b, 0), place);
    candidate = sums[0];
  } else {
    update = unit.gate(b, 0, sums[0]);
    Value reset = unit.gate(b, 0, sums[1]);
    candidate = b.create<vector::FMAOp>(reset, sums[2], input(b, place, 2));
  }
  return unit.nextHidden(b, update, candidate, load(b, kernel.hiddens, before, place));
}

/// Stores the state after the step, and what the result shows of it.
Value RecurrenceTile::Run::finish(Builder &b, Place place, ArrayRef<Value> sums, Value dest) const {
  Value hidden = nextState(b, place, sums), shown = hidden;
  if (op.getLengths()) {
    shown = kept(b, place, hidden, splat(b, kernel.lanes, 0));
    hidden = kept(b, place, hidden, load(b, kernel.hiddens, before, place));
  }
  store(b, hidden, kernel.hiddens, after, place);
  return writeVector(b, shown, dest, {time, direction, rowOf(b, place), place.unit});
}

/// Update gates, and the state times its reset gates, for the product that all units wait for.
void RecurrenceTile::Run::storeReset(Builder &b, Place place, ArrayRef<Value> sums) const {
  Value zero = constantIndex(b, 0), reset = unit.gate(b, 0, sums[1]);
  store(b, unit.gate(b, 0, sums[0]), kernel.updates, zero, place);
  Value hidden = load(b, kernel.hiddens, before, place);
  store(b, b.create<arith::MulFOp>(reset, hidden), kernel.resets, zero, place);
}

Value RecurrenceTile::Run::step(Builder &b, Value dest) const {
  auto finished = [&](Builder &inner, Place place, ArrayRef<Value> sums, Value into) {
    return finish(inner, place, sums, into);
  };
  if (!multipliesState())
    return forSums(b, {0, kernel.gates, kernel.hiddens, before}, dest, finished);
  dest = forSums(b, {0, 2, kernel.hiddens, before}, dest,
                 [&](Builder &inner, Place place, ArrayRef<Value> sums, Value into) {
                   storeReset(inner, place, sums);
                   return into;
                 });
  return forSums(b, {2, 1, kernel.resets, constantIndex(b, 0)}, dest, finished);
}

/// Copies the states before the first step into slot 0.
void RecurrenceTile::Run::begin(Builder &b) const {
  Value zero = constantIndex(b, 0);
  auto copy = [&](Builder &inner, Value given, Value buffer, Place place) {
    Value state = given ? readVector(inner, given, {direction, rowOf(inner, place), place.unit}, kernel.lanes)
                        : splat(inner, kernel.lanes, 0);
    store(inner, state, buffer, zero, place);
  };
  forPlaces(b, zero, [&](Builder &inner, Place place, Value carried) {
    copy(inner, op.getInitialHidden(), kernel.hiddens, place);
    if (isLstm())
      copy(inner, op.getInitialCell(), kernel.cells, place);
    return carried;
  });
}

Value RecurrenceTile::Run::timeOf(Builder &b, Value index) {
  bool both = op.getDirections() == 2;
  if (!both && !op.getReverse())
    return index;
  Value backwards = b.create<arith::SubIOp>(constantIndex(b, op.getSteps() - 1), index);
  if (!both)
    return backwards;
  Value isSecond = b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, direction, constantIndex(b, 1));
  return b.create<arith::SelectOp>(isSecond, backwards, index);
}

/// Stores the states in slot `last` behind the steps.
Value RecurrenceTile::Run::end(Builder &b, Value last, Value dest) const {
  return forPlaces(b, dest, [&](Builder &inner, Place place, Value into) {
    Value position = constantIndex(inner, shapeOf(op.getInput())[0]);
    for (Value buffer : {kernel.hiddens, kernel.cells})
      if (buffer) {
        into = writeVector(inner, load(inner, buffer, last, place), into,
                           {position, direction, rowOf(inner, place), place.unit});
        position = plus(inner, position, 1);
      }
    return into;
  });
}

RecurrenceTile::RecurrenceTile(Builder &b, RecurrenceOp op, int64_t mostRows, const RecurrenceTiling &tiling)
    : op(op), tiling(tiling), hidden(op.getHidden()), gates(op.getGates()), lanes(op.getBlock()) {
  constexpr int64_t kWidest = 16;
  if (lanes == 0)
    lanes = static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(std::min(tiling.units, kWidest))));
  auto blocks = static_cast<int64_t>(llvm::divideCeil(hidden, lanes));
  planes = std::clamp<int64_t>(tiling.units / lanes, 1, blocks);
  hiddens = scratch(b, 2, mostRows, hidden);
  if (op.getKind() == RecurrentCell::Lstm)
    cells = scratch(b, 2, mostRows, hidden);
  if (op.getKind() == RecurrentCell::Gru && !op.getLinearBeforeReset()) {
    updates = scratch(b, 1, mostRows, hidden);
    resets = scratch(b, 1, mostRows, hidden);
  }
  if (tiling.depth < hidden && tiling.rows < mostRows)
    sums = scratch(b, mostRows, tiling.rows * planes * gates, lanes);
}

Value RecurrenceTile::emit(Builder &b, Value direction, Value row, int64_t rows, Value dest) {
  Run run{*this, op, RecurrentUnit(op), direction, row, rows, {}, {}, {}};
  run.begin(b);
  Indices state = {dest, constantIndex(b, 0), constantIndex(b, 1)};
  state = loopOver(b, 0, op.getSteps(), 1, state,
                   [&](Builder &inner, Value index, ValueRange carried) -> Indices {
                     run.time = run.timeOf(inner, index);
                     run.before = carried[1];
                     run.after = carried[2];
                     return {run.step(inner, carried[0]), run.after, run.before};
                   });
  return op.getKeepsState() ? run.end(b, state[1], state[0]) : state[0];
}

} // namespace autotune
