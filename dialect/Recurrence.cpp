// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// autotune.recurrence: what is valid, and the op in linalg, step by step.
#include "dialect/AutotuneDialect.h"
#include "dialect/RecurrentUnit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

namespace autotune {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
namespace tensor = mlir::tensor;
using mlir::OpFoldResult;
using mlir::Value;

/// Written out, each step is code of its own.
static constexpr int64_t kMostStepsWritten = 2048;

int64_t RecurrenceOp::getSteps() { return shapeOf(getInput())[0]; }
int64_t RecurrenceOp::getBatch() { return shapeOf(getInput())[1]; }
int64_t RecurrenceOp::getDirections() { return shapeOf(getInput())[2]; }
int64_t RecurrenceOp::getHidden() { return shapeOf(getInput())[3] / getGates(); }
int64_t RecurrenceOp::getGates() {
  return getKind() == RecurrentCell::Lstm ? 4 : getKind() == RecurrentCell::Gru ? 3 : 1;
}
int64_t RecurrenceOp::getBlock() {
  return shapeOf(getWeight()).size() == 5 ? shapeOf(getWeight()).back() : 0;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

static mlir::LogicalResult verifyShapes(RecurrenceOp op) {
  llvm::ArrayRef<int64_t> input = shapeOf(op.getInput());
  int64_t gates = op.getGates();
  if (input.size() != 4 || llvm::is_contained(input, 0) || input[2] > 2 || input[3] % gates != 0)
    return op.emitOpError("has an input of shape ")
           << shapeText(input) << ", expected [steps, batch, 1 or 2, multiple of " << gates << "]";
  int64_t directions = input[2], hidden = op.getHidden(), batch = input[1];
  Shape weight = {directions, hidden, gates * hidden};
  if (int64_t block = op.getBlock(); block > 0 && block <= hidden)
    weight = {directions, static_cast<int64_t>(llvm::divideCeil(hidden, block)), hidden, gates, block};
  int64_t rows = input[0] + (op.getKeepsState() ? (op.getKind() == RecurrentCell::Lstm ? 2 : 1) : 0);
  const std::tuple<llvm::StringLiteral, Value, Shape> expected[] = {
      {"weight", op.getWeight(), weight},
      {"state bias", op.getStateBias(), {directions, hidden}},
      {"hidden state", op.getInitialHidden(), {directions, batch, hidden}},
      {"cell state", op.getInitialCell(), {directions, batch, hidden}},
      {"list of peepholes", op.getPeepholes(), {directions, 3 * hidden}},
      {"list of lengths", op.getLengths(), {batch}},
      {"result", op.getResult(), {rows, directions, batch, hidden}}};
  for (const auto &[name, value, shape] : expected) {
    if (!value)
      continue;
    if (shapeOf(value) != llvm::ArrayRef<int64_t>(shape))
      return op.emitOpError("has a ")
             << name << " of shape " << shapeText(shapeOf(value)) << ", expected " << shapeText(shape);
    if (value != op.getLengths() && elementOf(value) != elementOf(op.getInput()))
      return op.emitOpError("has a ")
             << name << " of " << elementOf(value) << ", expected " << elementOf(op.getInput());
  }
  return mlir::success();
}

static mlir::LogicalResult verifyActivations(RecurrenceOp op) {
  size_t count = op.getKind() == RecurrentCell::Lstm ? 3 : op.getKind() == RecurrentCell::Gru ? 2 : 1;
  size_t found = op.getActivations().size();
  bool agree = found == count && (!op.getAlphas() || op.getAlphas()->size() == count) &&
               (!op.getBetas() || op.getBetas()->size() == count);
  if (!agree)
    return op.emitOpError("has ") << found << " activations, expected " << count
                                  << " and as many alphas and betas, if any";
  for (llvm::StringRef name : op.getActivations().getAsValueRange<mlir::StringAttr>())
    if (!RecurrentActivation::withDefaults(name))
      return op.emitOpError("has the unknown activation '") << name << "'";
  return mlir::success();
}

mlir::LogicalResult RecurrenceOp::verify() {
  if (failed(verifyShapes(*this)) || failed(verifyActivations(*this)))
    return mlir::failure();
  if (getReverse() && getDirections() != 1)
    return emitOpError("is reverse in two directions, expected one");
  bool isLstm = getKind() == RecurrentCell::Lstm;
  if (!isLstm && (getInitialCell() || getPeepholes() || getCouplesInputForget()))
    return emitOpError("has a cell state, peepholes or coupled gates, expected them of lstm only");
  if (getLinearBeforeReset() && getKind() != RecurrentCell::Gru)
    return emitOpError("is linear before the reset, expected that of gru only");
  if (getStateBias() && !getLinearBeforeReset())
    return emitOpError("has a bias of the state, expected one only where gru is linear before the reset");
  return mlir::success();
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

namespace {

struct State {
  Value hidden, cell; // [batch, hidden]; no cell but of lstm
};

/// One direction of a recurrence, one step at a time.
class Direction {
public:
  Direction(RecurrenceOp op, Builder &b, int64_t index);

  State first();
  /// One step at `time`; `shown` becomes the hidden state that the result has for it.
  State step(State state, OpFoldResult time, Value &shown);
  bool isBackward() const { return backward; }

private:
  Value part(Value tensor);
  Value matrix(int64_t firstGate, int64_t gateCount);
  Value naturalWeight();
  Value vector(Value tensor, int64_t offset);
  Value gate(Value all, int64_t index);
  Value product(Value x, Value y);
  Value inputAt(OpFoldResult time);
  Value rows(llvm::ArrayRef<Value> tensors, ScalarBody body);
  Value sum(Value x, Value y);
  State stepLstm(State state, Value gates);
  State stepGru(State state, Value input);
  Value select(Value fresh, Value stale, OpFoldResult time);

  RecurrenceOp op;
  Builder &b;
  int64_t index, batch, hidden;
  bool backward;
  mlir::Type element;
  RecurrentUnit unit;
  Value weight, weightOfGate, stateBias, peepholes[3]; // i, o, f
};

Direction::Direction(RecurrenceOp op, Builder &b, int64_t index)
    : op(op), b(b), index(index), batch(op.getBatch()), hidden(op.getHidden()),
      backward(index == 1 || op.getReverse()), element(elementOf(op.getInput())), unit(op) {
  bool separate = op.getKind() == RecurrentCell::Gru && !op.getLinearBeforeReset();
  weight = matrix(0, separate ? 2 : op.getGates());
  if (separate)
    weightOfGate = matrix(2, 1);
  if (op.getStateBias())
    stateBias = vector(op.getStateBias(), 0);
  for (int64_t i = 0; i < 3 && op.getPeepholes(); ++i)
    peepholes[i] = vector(op.getPeepholes(), i * hidden);
}

/// [directions, …] without its first axis.
Value Direction::part(Value tensor) {
  Shape size(shapeOf(tensor)), offset(size.size(), 0), ones(size.size(), 1);
  offset[0] = index;
  size[0] = 1;
  return reshapeTo(b, sliceOf(b, tensor, offset, size, ones), llvm::ArrayRef<int64_t>(size).drop_front());
}

/// [hidden, gates, hidden], whatever the layout.
Value Direction::naturalWeight() {
  Value all = part(op.getWeight());
  int64_t block = op.getBlock(), gates = op.getGates();
  if (block == 0)
    return reshapeTo(b, all, {hidden, gates, hidden});
  all = transposed(b, all, {1, 2, 0, 3});
  if (hidden % block == 0)
    return reshapeTo(b, all, {hidden, gates, hidden});
  int64_t blocks = shapeOf(all)[2], own = hidden - block;
  Value before = sliceOf(b, all, {0, 0, 0, 0}, {hidden, gates, blocks - 1, block}, {1, 1, 1, 1});
  Value last = sliceOf(b, all, {0, 0, blocks - 1, 0}, {hidden, gates, 1, block}, {1, 1, 1, 1});
  before = reshapeTo(b, before, {hidden, gates, (blocks - 1) * block});
  before = sliceOf(b, before, {0, 0, 0}, {hidden, gates, own}, {1, 1, 1});
  return b.create<tensor::ConcatOp>(2, mlir::ValueRange{before, reshapeTo(b, last, {hidden, gates, block})});
}

Value Direction::matrix(int64_t firstGate, int64_t gateCount) {
  Value part = sliceOf(b, naturalWeight(), {0, firstGate, 0}, {hidden, gateCount, hidden}, {1, 1, 1});
  return reshapeTo(b, part, {hidden, gateCount * hidden});
}

Value Direction::vector(Value tensor, int64_t offset) {
  return reshapeTo(b, sliceOf(b, tensor, {index, offset}, {1, hidden}, {1, 1}), {hidden});
}

Value Direction::gate(Value all, int64_t index) {
  return sliceOf(b, all, {0, index * hidden}, {batch, hidden}, {1, 1});
}

Value Direction::product(Value x, Value y) {
  Value init = zeroTensor(b, {shapeOf(x)[0], shapeOf(y)[1]}, accumulatorType(element));
  Value result = b.create<linalg::MatmulOp>(mlir::ValueRange{x, y}, mlir::ValueRange{init}).getResult(0);
  return floatCast(b, result, element);
}

/// [batch, gates * hidden]
Value Direction::inputAt(OpFoldResult time) {
  int64_t width = op.getGates() * hidden;
  auto number = [&](int64_t value) -> OpFoldResult { return b.getIndexAttr(value); };
  auto type = mlir::RankedTensorType::get({1, batch, 1, width}, element);
  llvm::SmallVector<OpFoldResult> offsets = {time, number(0), number(index), number(0)},
                                  sizes = {number(1), number(batch), number(1), number(width)},
                                  strides(4, number(1));
  Value slice = op.getInput();
  if (slice.getType() != type)
    slice = b.create<tensor::ExtractSliceOp>(type, slice, offsets, sizes, strides);
  return reshapeTo(b, slice, {batch, width});
}

/// An elementwise op over matrices of one shape; vectors follow the last dimension.
Value Direction::rows(llvm::ArrayRef<Value> tensors, ScalarBody body) {
  Shape shape(shapeOf(tensors[0]));
  llvm::SmallVector<ElementwiseOperand> operands;
  for (Value tensor : tensors)
    operands.push_back(broadcastOperand(b, tensor, shape));
  return elementwise(b, shape, element, operands, body);
}

Value Direction::sum(Value x, Value y) {
  return rows({x, y}, [](Builder &inner, mlir::ValueRange v) -> Value {
    return inner.create<arith::AddFOp>(v[0], v[1]);
  });
}

State Direction::first() {
  auto given = [&](Value state) { return state ? part(state) : zeroTensor(b, {batch, hidden}, element); };
  return {given(op.getInitialHidden()),
          op.getKind() == RecurrentCell::Lstm ? given(op.getInitialCell()) : Value()};
}

State Direction::stepLstm(State state, Value gates) {
  bool peeps = static_cast<bool>(peepholes[0]);
  llvm::SmallVector<Value> inputs = {gate(gates, 0), gate(gates, 2), gate(gates, 3), state.cell};
  if (peeps)
    inputs.append({peepholes[0], peepholes[2]});
  Value cell = rows(inputs, [&](Builder &inner, mlir::ValueRange v) {
    return unit.nextCell(inner, {v[0], v[1], v[2], peeps ? v[4] : Value(), peeps ? v[5] : Value()}, v[3]);
  });
  inputs = {gate(gates, 1), cell};
  if (peeps)
    inputs.push_back(peepholes[1]);
  return {rows(inputs,
               [&](Builder &inner, mlir::ValueRange v) {
                 return unit.shownCell(inner, v[0], v[1], peeps ? v[2] : Value());
               }),
          cell};
}

State Direction::stepGru(State state, Value input) {
  auto multiply = [](Builder &inner, mlir::ValueRange v) -> Value {
    return inner.create<arith::MulFOp>(v[0], v[1]);
  };
  Value ofState = product(state.hidden, weight);
  auto activated = [&](int64_t which) {
    return rows({gate(input, which), gate(ofState, which)}, [&](Builder &inner, mlir::ValueRange v) {
      return unit.gate(inner, 0, inner.create<arith::AddFOp>(v[0], v[1]));
    });
  };
  Value update = activated(0), reset = activated(1), candidate;
  if (op.getLinearBeforeReset()) {
    Value third = gate(ofState, 2);
    candidate = rows({reset, stateBias ? sum(third, stateBias) : third}, multiply);
  } else {
    candidate = product(rows({reset, state.hidden}, multiply), weightOfGate);
  }
  Value next =
      rows({update, gate(input, 2), candidate, state.hidden}, [&](Builder &inner, mlir::ValueRange v) {
        return unit.nextHidden(inner, v[0], inner.create<arith::AddFOp>(v[1], v[2]), v[3]);
      });
  return {next, {}};
}

/// `fresh` for sequences that have not ended at `time`, `stale` for others.
Value Direction::select(Value fresh, Value stale, OpFoldResult time) {
  Shape shape = {batch, hidden};
  return elementwise(
      b, shape, element,
      {broadcastOperand(b, fresh, shape), broadcastOperand(b, stale, shape),
       alongAxis(b, op.getLengths(), 0, 2)},
      [&](Builder &inner, mlir::ValueRange v) -> Value {
        auto known = mlir::getConstantIntValue(time);
        Value now =
            known ? scalarConstant(inner, v[2].getType(), static_cast<double>(*known))
                  : inner.create<arith::IndexCastOp>(v[2].getType(), mlir::cast<Value>(time)).getResult();
        Value runs = inner.create<arith::CmpIOp>(arith::CmpIPredicate::slt, now, v[2]);
        return inner.create<arith::SelectOp>(runs, v[0], v[1]);
      });
}

State Direction::step(State state, OpFoldResult time, Value &shown) {
  Value input = inputAt(time);
  State next;
  if (op.getKind() == RecurrentCell::Gru) {
    next = stepGru(state, input);
  } else {
    Value ofState = product(state.hidden, weight);
    if (op.getKind() == RecurrentCell::Lstm)
      next = stepLstm(state, sum(input, ofState));
    else
      next.hidden = rows({input, ofState}, [&](Builder &inner, mlir::ValueRange v) {
        return unit.gate(inner, 0, inner.create<arith::AddFOp>(v[0], v[1]));
      });
  }
  shown = next.hidden;
  if (!op.getLengths())
    return next;
  shown = select(next.hidden, zeroTensor(b, {batch, hidden}, element), time);
  next.hidden = select(next.hidden, state.hidden, time);
  if (next.cell)
    next.cell = select(next.cell, state.cell, time);
  return next;
}

/// States as positions of the result.
Value asPosition(Builder &b, Value state) {
  llvm::ArrayRef<int64_t> shape = shapeOf(state);
  return reshapeTo(b, state, {1, 1, shape[0], shape[1]});
}

Value joined(Builder &b, llvm::ArrayRef<Value> parts, int64_t axis) {
  return parts.size() == 1 ? parts[0] : b.create<tensor::ConcatOp>(axis, parts).getResult();
}

} // namespace

mlir::FailureOr<llvm::SmallVector<Value>> RecurrenceOp::decomposeOperation(mlir::OpBuilder &builder) {
  if (getSteps() > kMostStepsWritten)
    return mlir::failure();
  Builder b(getLoc(), builder);
  llvm::SmallVector<Value> directions;
  for (int64_t d = 0; d < getDirections(); ++d) {
    Direction direction(*this, b, d);
    State state = direction.first();
    llvm::SmallVector<Value> positions(getSteps());
    for (int64_t i = 0; i < getSteps(); ++i) {
      int64_t time = direction.isBackward() ? getSteps() - 1 - i : i;
      Value shown;
      state = direction.step(state, b.getIndexAttr(time), shown);
      positions[time] = asPosition(b, shown);
    }
    if (getKeepsState())
      for (Value last : {state.hidden, state.cell})
        if (last)
          positions.push_back(asPosition(b, last));
    directions.push_back(joined(b, positions, 0));
  }
  return llvm::SmallVector<Value>{joined(b, directions, 1)};
}

namespace {

/// What a loop carries from step to step: tensors that every step updates in place.
class LoopState {
public:
  LoopState(RecurrenceOp op, Builder &b)
      : b(b), batch(op.getBatch()), hidden(op.getHidden()),
        count(op.getKind() == RecurrentCell::Lstm ? 2 : 1) {}

  /// Two places, whether there is a cell or not: an update of all would be another tensor.
  Value put(State state, Value into) {
    for (int64_t i = 0; i < count; ++i)
      into = insert(i == 0 ? state.hidden : state.cell, into, {number(i), number(0), number(0)});
    return into;
  }
  State get(Value from) { return {part(from, 0), count == 2 ? part(from, 1) : Value()}; }
  Value show(Value state, Value result, OpFoldResult position, int64_t direction) {
    return insert(state, result, {position, number(direction), number(0), number(0)});
  }
  Value first(State state) { return put(state, emptyTensor(b, {2, batch, hidden}, elementOf(state.hidden))); }

private:
  OpFoldResult number(int64_t value) { return b.getIndexAttr(value); }
  Value part(Value from, int64_t index) {
    auto type = mlir::RankedTensorType::get({batch, hidden}, elementOf(from));
    llvm::SmallVector<OpFoldResult> offsets = {number(index), number(0), number(0)},
                                    sizes = {number(1), number(batch), number(hidden)}, ones(3, number(1));
    return b.create<tensor::ExtractSliceOp>(type, from, offsets, sizes, ones);
  }
  Value insert(Value state, Value into, llvm::ArrayRef<OpFoldResult> offsets) {
    llvm::SmallVector<OpFoldResult> sizes(offsets.size(), number(1)), ones(offsets.size(), number(1));
    sizes[sizes.size() - 2] = number(batch);
    sizes.back() = number(hidden);
    return b.create<tensor::InsertSliceOp>(state, into, offsets, sizes, ones);
  }

  Builder &b;
  int64_t batch, hidden, count;
};

} // namespace

llvm::SmallVector<Value> RecurrenceOp::decomposeIntoLoop(mlir::OpBuilder &builder) {
  Builder b(getLoc(), builder);
  LoopState places(*this, b);
  Value result = emptyTensor(b, shapeOf(getResult()), elementOf(getResult()));
  auto index = [&](int64_t value) -> Value { return b.create<arith::ConstantIndexOp>(value); };
  for (int64_t d = 0; d < getDirections(); ++d) {
    Direction direction(*this, b, d);
    Value first = places.first(direction.first());
    auto loop =
        b.create<mlir::scf::ForOp>(index(0), index(getSteps()), index(1), mlir::ValueRange{result, first});
    {
      mlir::OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToEnd(loop.getBody());
      Value time = loop.getInductionVar(), before = loop.getRegionIterArg(1), shown;
      if (direction.isBackward())
        time = b.create<arith::SubIOp>(index(getSteps() - 1), time);
      State next = direction.step(places.get(before), time, shown);
      Value all = places.show(shown, loop.getRegionIterArg(0), time, d);
      b.create<mlir::scf::YieldOp>(mlir::ValueRange{all, places.put(next, before)});
    }
    result = loop.getResult(0);
    State last = places.get(loop.getResult(1));
    int64_t position = getSteps();
    for (Value state : {last.hidden, last.cell})
      if (state && getKeepsState())
        result = places.show(state, result, b.getIndexAttr(position++), d);
  }
  return {result};
}

} // namespace autotune
