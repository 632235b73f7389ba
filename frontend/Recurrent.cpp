// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RNN, GRU and LSTM: one product of all inputs, and a recurrence over what it gives. The number of steps is
// static.
#include "frontend/OperandTypes.h"
#include "frontend/OperatorTable.h"
#include "frontend/RecurrentActivation.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace autotune {

namespace arith = mlir::arith;
using mlir::Value;

namespace {

class Recurrence {
public:
  Recurrence(NodeContext &node, RecurrentCell cell) : node(node), b(node.b), kind(cell) {}

  mlir::LogicalResult build();

private:
  mlir::LogicalResult describe();
  mlir::LogicalResult checkShapes();
  /// Directions of the node that one op computes.
  struct Range {
    int64_t first, count;
  };
  mlir::FailureOr<Value> run(Range range, bool reverse);
  mlir::FailureOr<Value> writtenOut(RecurrenceOp op);
  void setResults(Value all);

  bool isLstm() const { return kind == RecurrentCell::Lstm; }
  int64_t gates() const { return isLstm() ? 4 : kind == RecurrentCell::Gru ? 3 : 1; }
  Value parameter(size_t operand, Range range, int64_t offset, int64_t size);
  Value inputWeight(Range range);
  Value stateWeight(Range range);
  Value bias(Range range);
  std::optional<ConstantTensor> knownBias(Range range);
  Value initialState(size_t operand, Range range);
  Value sum(Value x, Value y);
  Value projection(Range range);
  mlir::DenseF64ArrayAttr parameters(Range range, double RecurrentActivation::*member);

  NodeContext &node;
  Builder &b;
  RecurrentCell kind;
  int64_t steps = 0, batch = 0, inputSize = 0, hidden = 0, directions = 1;
  bool batchFirst = false, linearBeforeReset = false, masked = false, keepsState = false;
  std::vector<RecurrentActivation> activations; // of one direction after the other
  mlir::Type element;
};

mlir::LogicalResult Recurrence::describe() {
  std::string direction = node.stringAttribute("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    return node.fail("direction '" + direction + "' is not forward, reverse or bidirectional");
  directions = direction == "bidirectional" ? 2 : 1;
  batchFirst = node.intAttribute("layout", 0) != 0;
  linearBeforeReset = kind == RecurrentCell::Gru && node.intAttribute("linear_before_reset", 0) != 0;
  keepsState = node.isOutputUsed(1) || node.isOutputUsed(2);
  element = node.elementType(0);
  static const llvm::StringRef defaults[] = {"sigmoid", "tanh", "tanh"};
  static const llvm::StringRef rnnDefaults[] = {"tanh"};
  llvm::ArrayRef<llvm::StringRef> names = defaults;
  auto read = readActivations(node, directions,
                              kind == RecurrentCell::Rnn ? llvm::ArrayRef<llvm::StringRef>(rnnDefaults)
                                                         : names.take_front(isLstm() ? 3 : 2));
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
  if (steps < 1 || batch < 1 || hidden < 1)
    return node.fail(llvm::Twine(steps) + " steps of " + llvm::Twine(batch) + " sequences and " +
                     llvm::Twine(hidden) + " units, expected at least one of each");
  if (node.hasInput(4)) {
    const ConstantTensor *lengths = node.constant(4);
    masked = !lengths || !lengths->isSplat() || lengths->intAt(0) != steps;
  }
  return mlir::success();
}

/// Columns of a [directions, n] operand.
Value Recurrence::parameter(size_t operand, Range range, int64_t offset, int64_t size) {
  if (const ConstantTensor *constant = node.constant(operand))
    return node.materialize(constant->sliced({range.first, offset}, {range.count, size}, {1, 1}));
  return sliceOf(b, node.input(operand), {range.first, offset}, {range.count, size}, {1, 1});
}

/// W, transposed: [input, directions * gates * hidden].
Value Recurrence::inputWeight(Range range) {
  int64_t width = range.count * gates() * hidden;
  Shape offset = {range.first, 0, 0}, size = {range.count, gates() * hidden, inputSize}, ones = {1, 1, 1};
  if (const ConstantTensor *constant = node.constant(1))
    return node.materialize(
        constant->sliced(offset, size, ones).reshaped({width, inputSize}).transposed({1, 0}));
  Value rows = reshapeTo(b, sliceOf(b, node.input(1), offset, size, ones), {width, inputSize});
  return transposed(b, rows, {1, 0});
}

/// R, transposed: [directions, hidden, gates * hidden].
Value Recurrence::stateWeight(Range range) {
  Shape offset = {range.first, 0, 0}, size = {range.count, gates() * hidden, hidden}, ones = {1, 1, 1};
  if (const ConstantTensor *constant = node.constant(2))
    return node.materialize(constant->sliced(offset, size, ones).transposed({0, 2, 1}));
  return transposed(b, sliceOf(b, node.input(2), offset, size, ones), {0, 2, 1});
}

/// Both biases of [directions, 2 * gates * hidden] added up, but for what the reset multiplies.
std::optional<ConstantTensor> Recurrence::knownBias(Range range) {
  const ConstantTensor *constant = node.constant(3);
  if (!constant)
    return std::nullopt;
  int64_t width = gates() * hidden, added = linearBeforeReset ? 2 * hidden : width;
  unsigned bytes = byteSize(constant->type());
  std::vector<char> sums(range.count * width * bytes);
  for (int64_t i = 0; i < range.count * width; ++i) {
    int64_t ofInput = (range.first + i / width) * 2 * width + i % width;
    double value = constant->floatAt(ofInput);
    if (i % width < added)
      value += constant->floatAt(ofInput + width);
    storeFloat(sums.data() + i * bytes, constant->type(), value);
  }
  return ConstantTensor::own(constant->type(), range.count * width, std::move(sums));
}

/// [directions * gates * hidden]
Value Recurrence::bias(Range range) {
  if (std::optional<ConstantTensor> known = knownBias(range))
    return node.materialize(*known);
  int64_t width = gates() * hidden, added = linearBeforeReset ? 2 * hidden : width;
  Value ofState = padded(b, parameter(3, range, width, added), {0, 0}, {0, width - added}, 0);
  return reshapeTo(b, sum(parameter(3, range, 0, width), ofState), range.count * width);
}

/// [directions, batch, hidden]; null for zeros.
Value Recurrence::initialState(size_t operand, Range range) {
  if (!node.hasInput(operand))
    return nullptr;
  Value state = batchFirst ? transposed(b, node.input(operand), {1, 0, 2}) : node.input(operand);
  return sliceOf(b, state, {range.first, 0, 0}, {range.count, batch, hidden}, {1, 1, 1});
}

/// Vectors follow the last dimension.
Value Recurrence::sum(Value x, Value y) {
  Shape shape(shapeOf(x));
  return elementwise(
      b, shape, element, {broadcastOperand(b, x, shape), broadcastOperand(b, y, shape)},
      [](Builder &inner, mlir::ValueRange v) -> Value { return inner.create<arith::AddFOp>(v[0], v[1]); });
}

/// [steps, batch, directions, gates * hidden]
Value Recurrence::projection(Range range) {
  Value sequence = batchFirst ? transposed(b, node.input(0), {1, 0, 2}) : node.input(0);
  Value rows = reshapeTo(b, sequence, {steps * batch, inputSize}), weight = inputWeight(range);
  Value init = zeroTensor(b, {steps * batch, shapeOf(weight)[1]}, accumulatorType(element));
  Value all =
      b.create<mlir::linalg::MatmulOp>(mlir::ValueRange{rows, weight}, mlir::ValueRange{init}).getResult(0);
  all = floatCast(b, all, element);
  if (node.hasInput(3))
    all = sum(all, bias(range));
  return reshapeTo(b, all, {steps, batch, range.count, gates() * hidden});
}

/// Null when all are zero.
mlir::DenseF64ArrayAttr Recurrence::parameters(Range range, double RecurrentActivation::*member) {
  llvm::SmallVector<double> values;
  size_t count = activations.size() / directions;
  for (const RecurrentActivation &activation : llvm::ArrayRef(activations).slice(range.first * count, count))
    values.push_back(activation.*member);
  bool isNone = llvm::all_of(values, [](double value) { return value == 0; });
  return isNone ? mlir::DenseF64ArrayAttr() : b.getDenseF64ArrayAttr(values);
}

/// Other types than f32 have no kernel that takes all steps; what is known at import is computed there.
mlir::FailureOr<Value> Recurrence::writtenOut(RecurrenceOp op) {
  bool isKnown = true;
  for (size_t operand = 0; operand < node.inputCount(); ++operand)
    isKnown &= !node.hasInput(operand) || node.constant(operand);
  if (element.isF32() && !isKnown)
    return op.getResult();
  auto pieces = op.decomposeOperation(b);
  if (succeeded(pieces)) {
    op.erase();
    return (*pieces)[0];
  }
  if (element.isF32())
    return op.getResult();
  return node.fail("has " + llvm::Twine(steps) + " steps, too many for other types than f32");
}

mlir::FailureOr<Value> Recurrence::run(Range range, bool reverse) {
  int64_t width = gates() * hidden, rows = steps + (keepsState ? (isLstm() ? 2 : 1) : 0);
  bool hasPeepholes = isLstm() && node.hasInput(7);
  Value stateBias;
  if (linearBeforeReset && node.hasInput(3))
    stateBias = parameter(3, range, width + 2 * hidden, hidden);
  llvm::SmallVector<llvm::StringRef> names;
  size_t count = activations.size() / directions;
  for (const RecurrentActivation &activation : llvm::ArrayRef(activations).slice(range.first * count, count))
    names.push_back(activation.name);
  double clip = node.floatAttribute("clip", 0);
  Value input = projection(range), weight = stateWeight(range), initial = initialState(5, range);
  auto op = b.create<RecurrenceOp>(
      mlir::RankedTensorType::get({rows, range.count, batch, hidden}, element), kind, input, weight,
      stateBias, initial, isLstm() ? initialState(6, range) : Value(),
      hasPeepholes ? parameter(7, range, 0, 3 * hidden) : Value(), masked ? node.input(4) : Value(),
      b.getStrArrayAttr(names), parameters(range, &RecurrentActivation::alpha),
      parameters(range, &RecurrentActivation::beta), clip > 0 ? b.getF64FloatAttr(clip) : mlir::FloatAttr(),
      reverse, linearBeforeReset, isLstm() && node.intAttribute("input_forget", 0) != 0, keepsState);
  return writtenOut(op);
}

/// `all` is [steps, directions, batch, hidden] with the last states behind the steps.
void Recurrence::setResults(Value all) {
  auto positions = [&](int64_t first, int64_t count) {
    return sliceOf(b, all, {first, 0, 0, 0}, {count, directions, batch, hidden}, {1, 1, 1, 1});
  };
  Value shown = positions(0, steps);
  node.setResult(0, batchFirst ? transposed(b, shown, {2, 0, 1, 3}) : shown);
  for (int64_t i = 0; i < (isLstm() ? 2 : 1) && keepsState; ++i) {
    Value state = reshapeTo(b, positions(steps + i, 1), {directions, batch, hidden});
    node.setResult(1 + i, batchFirst ? transposed(b, state, {1, 0, 2}) : state);
  }
}

mlir::LogicalResult Recurrence::build() {
  if (failed(describe()))
    return mlir::failure();
  bool reverse = node.stringAttribute("direction", "forward") == "reverse";
  auto [forward, backward] = std::pair(llvm::ArrayRef(activations).take_front(activations.size() / 2),
                                       llvm::ArrayRef(activations).drop_front(activations.size() / 2));
  if (directions == 1 || forward == backward) {
    mlir::FailureOr<Value> all = run({0, directions}, reverse);
    if (failed(all))
      return mlir::failure();
    setResults(*all);
    return mlir::success();
  }
  mlir::FailureOr<Value> first = run({0, 1}, false), second = run({1, 1}, true);
  if (failed(first) || failed(second))
    return mlir::failure();
  setResults(b.create<mlir::tensor::ConcatOp>(1, mlir::ValueRange{*first, *second}));
  return mlir::success();
}

template <RecurrentCell cell> mlir::LogicalResult buildRecurrent(NodeContext &node) {
  if (failed(requireTypeOfFirst(node, {1, 2, 3, 5, 6, 7})))
    return mlir::failure();
  return Recurrence(node, cell).build();
}

constexpr llvm::StringLiteral kLimits = "more than 2048 steps of other types than f32";
constexpr OperatorEntry kOperators[] = {
    {"", "GRU", 7, 3, 6, buildRecurrent<RecurrentCell::Gru>, kLimits},
    {"", "LSTM", 7, 3, 8, buildRecurrent<RecurrentCell::Lstm>, kLimits},
    {"", "RNN", 7, 3, 6, buildRecurrent<RecurrentCell::Rnn>, kLimits},
};

} // namespace

llvm::ArrayRef<OperatorEntry> recurrentOperators() { return kOperators; }

} // namespace autotune
