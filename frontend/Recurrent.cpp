// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RNN, GRU and LSTM, step by step: one product of all inputs, then for each step one of the state and few
// elementwise ops. The number of steps is static.
#include "frontend/OperandTypes.h"
#include "frontend/OperatorTable.h"
#include "frontend/RecurrentActivation.h"
#include "frontend/Scalar.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace autotune {

namespace arith = mlir::arith;
using mlir::Value;

namespace {

enum class Cell { Rnn, Gru, Lstm };

// Each step becomes code of its own.
constexpr int64_t kMaxSteps = 2048;

struct State {
  Value hidden, cell;
};

class Recurrence {
public:
  Recurrence(NodeContext &node, Cell cell) : node(node), b(node.b), kind(cell) {}

  mlir::LogicalResult build();

private:
  mlir::LogicalResult describe();
  mlir::LogicalResult checkShapes();
  void runDirection(int64_t direction, bool backward);
  State step(State state, Value input, int64_t direction);
  State stepLstm(State state, Value gates);
  State stepGru(State state, Value input, Value product, Value biasOfState);
  State keptBeyondEnd(State next, State old, int64_t time);

  int64_t gates() const { return kind == Cell::Lstm ? 4 : kind == Cell::Gru ? 3 : 1; }
  Value parameter(size_t operand, int64_t direction, int64_t offset, int64_t size);
  Value transposedMatrix(size_t operand, int64_t direction, int64_t firstGate, int64_t gateCount);
  Value initialState(size_t operand, int64_t direction);
  Value gate(Value all, int64_t index);
  Value product(Value x, Value y);
  Value rows(llvm::ArrayRef<Value> tensors, ScalarBody body);
  Value activated(Builder &inner, size_t index, Value x) const;
  Value addVector(Value matrix, Value vector);

  NodeContext &node;
  Builder &b;
  Cell kind;
  int64_t steps = 0, batch = 0, inputSize = 0, hidden = 0, directions = 1;
  bool batchFirst = false, coupled = false, linearBeforeReset = false, masked = false;
  double clip = 0;
  std::vector<RecurrentActivation> activations;
  size_t firstActivation = 0;
  mlir::Type element;
  Value sequence; // [steps, batch, input]

  // Of the direction being built.
  Value stateWeight, stateWeightOfGate, stateBias;
  Value peepholes[3]; // i, o, f
  std::vector<Value> outputs, lastHidden, lastCell;
};

mlir::LogicalResult Recurrence::describe() {
  std::string direction = node.stringAttribute("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    return node.fail("direction '" + direction + "' is not forward, reverse or bidirectional");
  directions = direction == "bidirectional" ? 2 : 1;
  batchFirst = node.intAttribute("layout", 0) != 0;
  coupled = node.intAttribute("input_forget", 0) != 0;
  linearBeforeReset = node.intAttribute("linear_before_reset", 0) != 0;
  clip = node.floatAttribute("clip", 0);
  element = node.elementType(0);
  static const llvm::StringRef defaults[] = {"sigmoid", "tanh", "tanh"};
  static const llvm::StringRef rnnDefaults[] = {"tanh"};
  llvm::ArrayRef<llvm::StringRef> names = defaults;
  auto read = readActivations(node, directions,
                              kind == Cell::Rnn ? llvm::ArrayRef<llvm::StringRef>(rnnDefaults)
                                                : names.take_front(kind == Cell::Gru ? 2 : 3));
  if (failed(read))
    return mlir::failure();
  activations = *read;
  return checkShapes();
}

mlir::LogicalResult Recurrence::checkShapes() {
  if (!isFloat(node.type(0)) || node.rank(0) != 3 || node.rank(1) != 3 || node.rank(2) != 3)
    return node.fail("X " + shapeText(node.shape(0)) + ", W " + shapeText(node.shape(1)) + ", R " +
                     shapeText(node.shape(2)) + ": expected floats of rank 3");
  llvm::ArrayRef<int64_t> x = node.shape(0);
  steps = x[batchFirst ? 1 : 0];
  batch = x[batchFirst ? 0 : 1];
  inputSize = x[2];
  hidden = node.shape(2)[2];
  auto expect = [&](size_t index, llvm::ArrayRef<int64_t> shape) {
    if (!node.hasInput(index) || node.shape(index) == shape)
      return mlir::success();
    return node.fail("input " + llvm::Twine(index) + " of shape " + shapeText(node.shape(index)) +
                     ", expected " + shapeText(shape));
  };
  Shape state = batchFirst ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
  if (failed(expect(1, {directions, gates() * hidden, inputSize})) ||
      failed(expect(2, {directions, gates() * hidden, hidden})) ||
      failed(expect(3, {directions, 2 * gates() * hidden})) || failed(expect(4, batch)) ||
      failed(expect(5, state)) || failed(expect(6, state)) || failed(expect(7, {directions, 3 * hidden})))
    return mlir::failure();
  if (steps < 1 || steps > kMaxSteps)
    return node.fail(llvm::Twine(steps) + " steps, expected 1 to " + llvm::Twine(kMaxSteps));
  if (node.hasInput(4)) {
    const ConstantTensor *lengths = node.constant(4);
    masked = !lengths || !lengths->isSplat() || lengths->intAt(0) != steps;
  }
  return mlir::success();
}

/// Part of a row of a [directions, n] operand.
Value Recurrence::parameter(size_t operand, int64_t direction, int64_t offset, int64_t size) {
  if (const ConstantTensor *constant = node.constant(operand))
    return node.materialize(constant->sliced({direction, offset}, {1, size}, {1, 1}).reshaped(size));
  return reshapeTo(b, sliceOf(b, node.input(operand), {direction, offset}, {1, size}, {1, 1}), size);
}

/// Some gates of W or R, transposed: [input or hidden, gates * hidden].
Value Recurrence::transposedMatrix(size_t operand, int64_t direction, int64_t firstGate, int64_t gateCount) {
  int64_t columns = node.shape(operand)[2], rowCount = gateCount * hidden;
  Shape offset = {direction, firstGate * hidden, 0}, size = {1, rowCount, columns}, ones = {1, 1, 1};
  if (const ConstantTensor *constant = node.constant(operand))
    return node.materialize(
        constant->sliced(offset, size, ones).reshaped({rowCount, columns}).transposed({1, 0}));
  Value matrix = reshapeTo(b, sliceOf(b, node.input(operand), offset, size, ones), {rowCount, columns});
  return transposed(b, matrix, {1, 0});
}

Value Recurrence::initialState(size_t operand, int64_t direction) {
  if (!node.hasInput(operand))
    return zeroTensor(b, {batch, hidden}, element);
  Shape offset = {direction, 0, 0}, size = {1, batch, hidden};
  if (batchFirst) {
    offset = {0, direction, 0};
    size = {batch, 1, hidden};
  }
  return reshapeTo(b, sliceOf(b, node.input(operand), offset, size, {1, 1, 1}), {batch, hidden});
}

Value Recurrence::gate(Value all, int64_t index) {
  return sliceOf(b, all, {0, index * hidden}, {batch, hidden}, {1, 1});
}

Value Recurrence::product(Value x, Value y) {
  Value init = zeroTensor(b, {shapeOf(x)[0], shapeOf(y)[1]}, accumulatorType(element));
  Value result =
      b.create<mlir::linalg::MatmulOp>(mlir::ValueRange{x, y}, mlir::ValueRange{init}).getResult(0);
  return floatCast(b, result, element);
}

/// An elementwise op over tensors of one shape; vectors follow the last dimension.
Value Recurrence::rows(llvm::ArrayRef<Value> tensors, ScalarBody body) {
  Shape shape(shapeOf(tensors[0]));
  llvm::SmallVector<ElementwiseOperand> operands;
  for (Value tensor : tensors)
    operands.push_back(broadcastOperand(b, tensor, shape));
  return elementwise(b, shape, element, operands, body);
}

Value Recurrence::addVector(Value matrix, Value vector) {
  return vector ? rows({matrix, vector},
                       [](Builder &inner, mlir::ValueRange v) { return scalar::add(inner, v[0], v[1]); })
                : matrix;
}

Value Recurrence::activated(Builder &inner, size_t index, Value x) const {
  if (clip > 0) {
    x = inner.create<arith::MinimumFOp>(x, scalar::constantLike(inner, x, clip));
    x = inner.create<arith::MaximumFOp>(x, scalar::constantLike(inner, x, -clip));
  }
  return activations[firstActivation + index].apply(inner, x);
}

State Recurrence::stepLstm(State state, Value gates) {
  llvm::SmallVector<Value> cellInputs = {gate(gates, 0), gate(gates, 2), gate(gates, 3), state.cell};
  bool peeps = static_cast<bool>(peepholes[0]);
  if (peeps)
    cellInputs.append({peepholes[0], peepholes[2]});
  Value cell = rows(cellInputs, [&](Builder &inner, mlir::ValueRange v) {
    Value i = peeps ? scalar::add(inner, v[0], scalar::mul(inner, v[4], v[3])) : v[0];
    Value f = peeps ? scalar::add(inner, v[1], scalar::mul(inner, v[5], v[3])) : v[1];
    i = activated(inner, 0, i);
    f = coupled ? scalar::sub(inner, scalar::constantLike(inner, i, 1), i) : activated(inner, 0, f);
    Value candidate = activated(inner, 1, v[2]);
    return scalar::add(inner, scalar::mul(inner, f, v[3]), scalar::mul(inner, i, candidate));
  });
  llvm::SmallVector<Value> hiddenInputs = {gate(gates, 1), cell};
  if (peeps)
    hiddenInputs.push_back(peepholes[1]);
  Value next = rows(hiddenInputs, [&](Builder &inner, mlir::ValueRange v) {
    Value o = peeps ? scalar::add(inner, v[0], scalar::mul(inner, v[2], v[1])) : v[0];
    // h is not clipped: the clip is for what the gates read.
    return scalar::mul(inner, activated(inner, 0, o), activations[firstActivation + 2].apply(inner, v[1]));
  });
  return {next, cell};
}

/// `input` has all three gates of the input's product; `stateProduct` those of the state's.
State Recurrence::stepGru(State state, Value input, Value stateProduct, Value biasOfState) {
  auto both = [&](int64_t index) {
    return rows({gate(input, index), gate(stateProduct, index)}, [&](Builder &inner, mlir::ValueRange v) {
      return activated(inner, 0, scalar::add(inner, v[0], v[1]));
    });
  };
  Value update = both(0), reset = both(1), ofState;
  if (linearBeforeReset) {
    Value third = addVector(gate(stateProduct, 2), biasOfState);
    ofState = rows({reset, third},
                   [](Builder &inner, mlir::ValueRange v) { return scalar::mul(inner, v[0], v[1]); });
  } else {
    Value scaled = rows({reset, state.hidden},
                        [](Builder &inner, mlir::ValueRange v) { return scalar::mul(inner, v[0], v[1]); });
    ofState = addVector(product(scaled, stateWeightOfGate), biasOfState);
  }
  Value next = rows({update, gate(input, 2), ofState, state.hidden}, [&](Builder &inner, mlir::ValueRange v) {
    Value candidate = activated(inner, 1, scalar::add(inner, v[1], v[2]));
    Value rest = scalar::sub(inner, scalar::constantLike(inner, v[0], 1), v[0]);
    return scalar::add(inner, scalar::mul(inner, rest, candidate), scalar::mul(inner, v[0], v[3]));
  });
  return {next, {}};
}

State Recurrence::step(State state, Value input, int64_t direction) {
  Value ofState = product(state.hidden, stateWeight);
  if (kind == Cell::Gru)
    return stepGru(state, input, ofState, stateBias);
  if (kind == Cell::Rnn)
    return {rows({input, ofState},
                 [&](Builder &inner, mlir::ValueRange v) {
                   return activated(inner, 0, scalar::add(inner, v[0], v[1]));
                 }),
            {}};
  return stepLstm(state, rows({input, ofState}, [](Builder &inner, mlir::ValueRange v) {
                    return scalar::add(inner, v[0], v[1]);
                  }));
}

/// Sequences that ended before `time` keep their state.
State Recurrence::keptBeyondEnd(State next, State old, int64_t time) {
  auto select = [&](Value fresh, Value stale) {
    Shape shape = {batch, hidden};
    return elementwise(b, shape, element,
                       {broadcastOperand(b, fresh, shape), broadcastOperand(b, stale, shape),
                        alongAxis(b, node.input(4), 0, 2)},
                       [&](Builder &inner, mlir::ValueRange v) -> Value {
                         Value now = scalar::constantLike(inner, v[2], static_cast<double>(time));
                         Value runs = inner.create<arith::CmpIOp>(arith::CmpIPredicate::slt, now, v[2]);
                         return inner.create<arith::SelectOp>(runs, v[0], v[1]);
                       });
  };
  return {select(next.hidden, old.hidden), next.cell ? select(next.cell, old.cell) : Value()};
}

void Recurrence::runDirection(int64_t direction, bool backward) {
  int64_t width = gates() * hidden;
  bool gru = kind == Cell::Gru;
  stateWeight = transposedMatrix(2, direction, 0, gru && !linearBeforeReset ? 2 : gates());
  stateWeightOfGate = gru && !linearBeforeReset ? transposedMatrix(2, direction, 2, 1) : Value();
  stateBias = nullptr;
  Value all =
      product(reshapeTo(b, sequence, {steps * batch, inputSize}), transposedMatrix(1, direction, 0, gates()));
  if (node.hasInput(3)) {
    all = addVector(all, parameter(3, direction, 0, width));
    // Only GRU's third gate must not add the state's bias to the input's.
    Value ofState = parameter(3, direction, width, width);
    if (gru) {
      stateBias = parameter(3, direction, width + 2 * hidden, hidden);
      Value two = parameter(3, direction, width, 2 * hidden);
      ofState = padded(b, two, {0}, {hidden}, 0);
    }
    all = addVector(all, ofState);
  }
  for (int64_t i = 0; i < 3; ++i)
    peepholes[i] =
        kind == Cell::Lstm && node.hasInput(7) ? parameter(7, direction, i * hidden, hidden) : Value();
  firstActivation = direction * (activations.size() / directions);
  State state{initialState(5, direction), kind == Cell::Lstm ? initialState(6, direction) : Value()};
  Value zero = masked ? zeroTensor(b, {batch, hidden}, element) : Value();
  std::vector<Value> hiddens(steps);
  for (int64_t i = 0; i < steps; ++i) {
    int64_t time = backward ? steps - 1 - i : i;
    Value input = sliceOf(b, all, {time * batch, 0}, {batch, width}, {1, 1});
    State next = step(state, input, direction);
    Value shown = next.hidden;
    if (masked) {
      shown = keptBeyondEnd(next, {zero, next.cell}, time).hidden;
      next = keptBeyondEnd(next, state, time);
    }
    state = next;
    hiddens[time] = reshapeTo(b, shown, {1, 1, batch, hidden});
  }
  outputs.push_back(steps == 1 ? hiddens[0] : b.create<mlir::tensor::ConcatOp>(0, hiddens).getResult());
  lastHidden.push_back(reshapeTo(b, state.hidden, {1, batch, hidden}));
  if (state.cell)
    lastCell.push_back(reshapeTo(b, state.cell, {1, batch, hidden}));
}

mlir::LogicalResult Recurrence::build() {
  if (failed(describe()))
    return mlir::failure();
  sequence = batchFirst ? transposed(b, node.input(0), {1, 0, 2}) : node.input(0);
  bool reverse = node.stringAttribute("direction", "forward") == "reverse";
  for (int64_t d = 0; d < directions; ++d)
    runDirection(d, reverse || d == 1);
  auto joined = [&](std::vector<Value> &parts, int64_t axis) {
    return parts.size() == 1 ? parts[0] : b.create<mlir::tensor::ConcatOp>(axis, parts).getResult();
  };
  Value all = joined(outputs, 1), last = joined(lastHidden, 0);
  node.setResult(0, batchFirst ? transposed(b, all, {2, 0, 1, 3}) : all);
  node.setResult(1, batchFirst ? transposed(b, last, {1, 0, 2}) : last);
  if (kind == Cell::Lstm) {
    Value cell = joined(lastCell, 0);
    node.setResult(2, batchFirst ? transposed(b, cell, {1, 0, 2}) : cell);
  }
  return mlir::success();
}

template <Cell cell> mlir::LogicalResult buildRecurrent(NodeContext &node) {
  if (failed(requireTypeOfFirst(node, {1, 2, 3, 5, 6, 7})))
    return mlir::failure();
  return Recurrence(node, cell).build();
}

constexpr OperatorEntry kOperators[] = {
    {"", "GRU", 7, 3, 6, buildRecurrent<Cell::Gru>},
    {"", "LSTM", 7, 3, 8, buildRecurrent<Cell::Lstm>},
    {"", "RNN", 7, 3, 6, buildRecurrent<Cell::Rnn>},
};

} // namespace

llvm::ArrayRef<OperatorEntry> recurrentOperators() { return kOperators; }

} // namespace autotune
