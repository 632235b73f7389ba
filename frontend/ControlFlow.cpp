// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// If, Loop and Scan: known conditions and trip counts disappear; of an unknown condition both branches are computed.
#include "frontend/Emit.h"
#include "frontend/ImportContext.h"
#include "frontend/OnnxProto.h"
#include "frontend/OperatorTable.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace autotune {

using mlir::Value;

namespace {

using Values = std::vector<ImportedValue>;

mlir::FailureOr<Values> importBody(NodeContext &node, const onnx::GraphProto &graph,
                                   llvm::ArrayRef<ImportedValue> arguments, mlir::OpBuilder &builder) {
  llvm::Expected<Values> results = node.importContext().importGraph(graph, builder, arguments);
  if (!results)
    return node.fail(llvm::toString(results.takeError()));
  for (auto [output, result] : llvm::zip(graph.output(), *results))
    if (!result.present)
      return node.fail("output '" + output.name() + "' of its graph is defined by no node");
  return std::move(*results);
}

mlir::LogicalResult buildKnownIf(NodeContext &node, const onnx::GraphProto &branch) {
  mlir::FailureOr<Values> results = importBody(node, branch, {}, node.b);
  if (failed(results))
    return mlir::failure();
  for (auto [index, result] : llvm::enumerate(*results))
    node.setResult(index, result);
  return mlir::success();
}

constexpr llvm::StringLiteral kFixCondition =
    "; the condition is not known at import: an input that it depends on can be given a fixed value "
    "(--input-value NAME=VALUE), then one branch is left";

mlir::FailureOr<Values> importBranch(NodeContext &node, const onnx::GraphProto &graph, llvm::StringRef which) {
  llvm::Expected<Values> results = node.importContext().importGraph(graph, node.b, {});
  if (!results)
    return node.fail(which + ": " + llvm::toString(results.takeError()) + kFixCondition);
  for (auto [output, result] : llvm::zip(graph.output(), *results))
    if (!result.present)
      return node.fail(which + ": output '" + output.name() + "' is defined by no node");
  return std::move(*results);
}

/// Both branches are computed, whatever the condition says: they have no effects, and what is left of each is straight
/// code that the passes know. The price is the time of the branch that is not taken, and one select for each result.
mlir::LogicalResult buildRuntimeIf(NodeContext &node, const onnx::GraphProto &thenGraph,
                                   const onnx::GraphProto &elseGraph) {
  Builder &b = node.b;
  mlir::FailureOr<Values> taken = importBranch(node, thenGraph, "then_branch");
  if (failed(taken))
    return mlir::failure();
  mlir::FailureOr<Values> other = importBranch(node, elseGraph, "else_branch");
  if (failed(other))
    return mlir::failure();
  if (taken->size() != other->size())
    return node.fail("its branches have different numbers of outputs");
  Value flag = reshapeTo(b, node.input(0), {});
  for (auto [index, pair] : llvm::enumerate(llvm::zip(*taken, *other))) {
    auto &[x, y] = pair;
    if (!x.isTensor() || !y.isTensor())
      return node.fail("a branch gives a sequence or an optional, and the condition is not known at import");
    if (x.type != y.type || x.shape != y.shape)
      return node.fail("output " + llvm::Twine(index) + " is " + spelling(x.type) + " of shape " + shapeText(x.shape) +
                       " in one branch, " + spelling(y.type) + " of shape " + shapeText(y.shape) + " in the other" +
                       kFixCondition);
    if (!node.isOutputUsed(index))
      continue;
    Value onTrue = node.importContext().valueOf(x), onFalse = node.importContext().valueOf(y);
    auto all = mlir::AffineMap::get(x.shape.size(), 0, b.getContext());
    Value chosen = elementwise(
        b, x.shape, elementOf(onTrue),
        {{flag, all, {}}, broadcastOperand(b, onTrue, x.shape), broadcastOperand(b, onFalse, x.shape)},
        [](Builder &inner, mlir::ValueRange v) -> Value {
          return inner.create<mlir::arith::SelectOp>(v[0], v[1], v[2]);
        });
    node.setResult(index, chosen, x.type);
  }
  return mlir::success();
}

mlir::LogicalResult buildIf(NodeContext &node) {
  const onnx::GraphProto *thenGraph = node.graphAttribute("then_branch");
  const onnx::GraphProto *elseGraph = node.graphAttribute("else_branch");
  if (!thenGraph || !elseGraph || node.type(0) != ElementType::Bool || elementCount(node.shape(0)) != 1)
    return node.fail("expected a single bool, a then_branch and an else_branch");
  if (const ConstantTensor *condition = node.constant(0))
    return buildKnownIf(node, condition->intAt(0) ? *thenGraph : *elseGraph);
  return buildRuntimeIf(node, *thenGraph, *elseGraph);
}

/// Joins one value of each iteration along a new axis; known values stay known.
mlir::FailureOr<ImportedValue> stacked(NodeContext &node, llvm::MutableArrayRef<ImportedValue> parts,
                                       int64_t axis) {
  const ImportedValue &first = parts.front();
  Shape unit = first.shape;
  unit.insert(unit.begin() + axis, 1);
  bool known = axis == 0;
  for (const ImportedValue &part : parts) {
    if (!part.isTensor())
      return node.fail("a scan output is a sequence or an optional, expected a tensor");
    if (part.shape != first.shape || part.type != first.type)
      return node.fail("a scan output changes its shape from " + shapeText(first.shape) + " to " +
                       shapeText(part.shape));
    known &= part.constant.has_value();
  }
  Shape shape = unit;
  shape[axis] = parts.size();
  if (!checkedByteCount(shape, first.type))
    return node.fail("a scan output of shape " + shapeText(shape) + " is too large");
  if (known) {
    if (failed(node.spend(elementCount(shape))))
      return mlir::failure();
    std::vector<char> bytes;
    for (const ImportedValue &part : parts)
      for (int64_t i = 0, e = part.constant->size(); i < e; ++i)
        bytes.insert(bytes.end(), part.constant->element(i),
                     part.constant->element(i) + byteSize(first.type));
    return ImportedValue::known(ConstantTensor::own(first.type, shape, std::move(bytes)));
  }
  llvm::SmallVector<Value> slices;
  for (ImportedValue &part : parts)
    slices.push_back(reshapeTo(node.b, node.importContext().valueOf(part), unit));
  ImportedValue result;
  result.type = first.type;
  result.shape = shape;
  result.value =
      slices.size() == 1 ? slices[0] : node.b.create<mlir::tensor::ConcatOp>(axis, slices).getResult();
  return result;
}

// Every iteration becomes code of its own.
constexpr int64_t kMaxIterations = 4096;

/// The number of iterations that Loop's operands allow; the body may stop earlier.
mlir::FailureOr<int64_t> tripCount(NodeContext &node) {
  int64_t count = INT64_MAX;
  if (node.hasInput(0)) {
    const ConstantTensor *limit = node.constant(0);
    if (!limit || limit->size() != 1)
      return node.fail("the trip count (input 0) is not known at import");
    count = std::max<int64_t>(limit->intAt(0), 0);
  }
  if (node.hasInput(1)) {
    const ConstantTensor *condition = node.constant(1);
    if (!condition || condition->size() != 1)
      return node.fail("the condition (input 1) is not known at import");
    if (!condition->intAt(0))
      count = 0;
  }
  return count;
}

/// Body: (iteration, condition, carried…) -> (condition, carried…, scanned…)
mlir::LogicalResult buildLoop(NodeContext &node) {
  const onnx::GraphProto *body = node.graphAttribute("body");
  mlir::FailureOr<int64_t> count = tripCount(node);
  if (failed(count) || !body)
    return node.fail("the body is missing");
  size_t carriedCount = std::max<size_t>(node.inputCount(), 2) - 2;
  if (static_cast<size_t>(body->output_size()) < carriedCount + 1)
    return node.fail("its body has " + llvm::Twine(body->output_size()) + " outputs, expected at least " +
                     llvm::Twine(carriedCount + 1));
  Values carried;
  for (size_t i = 0; i < carriedCount; ++i)
    carried.push_back(node.importedInput(i + 2));
  std::vector<Values> scanned(body->output_size() - carriedCount - 1);
  int64_t iteration = 0;
  for (bool goesOn = true; goesOn && iteration < *count; ++iteration) {
    if (iteration == kMaxIterations)
      return node.fail("more than " + llvm::Twine(kMaxIterations) + " iterations");
    Values arguments = {ImportedValue::known(ConstantTensor::ints(iteration).reshaped({})),
                        ImportedValue::known(ConstantTensor::scalar(ElementType::Bool, 1))};
    arguments.insert(arguments.end(), carried.begin(), carried.end());
    mlir::FailureOr<Values> results = importBody(node, *body, arguments, node.b);
    if (failed(results))
      return mlir::failure();
    if (!results->front().constant)
      return node.fail("whether it goes on depends on the data");
    goesOn = results->front().constant->intAt(0) != 0;
    carried.assign(results->begin() + 1, results->begin() + 1 + carriedCount);
    for (size_t i = 0; i < scanned.size(); ++i)
      scanned[i].push_back((*results)[1 + carriedCount + i]);
  }
  for (auto [index, value] : llvm::enumerate(carried))
    node.setResult(index, value);
  for (auto [index, parts] : llvm::enumerate(scanned)) {
    if (!node.isOutputUsed(carriedCount + index))
      continue;
    if (parts.empty())
      return node.fail("a scan output of no iterations has no shape");
    mlir::FailureOr<ImportedValue> joined = stacked(node, parts, 0);
    if (failed(joined))
      return mlir::failure();
    node.setResult(carriedCount + index, *joined);
  }
  return mlir::success();
}

/// Position `index` of `whole` along `axis`, without that axis.
ImportedValue positionOf(NodeContext &node, const ImportedValue &whole, int64_t axis, int64_t index) {
  Shape offset(whole.shape.size(), 0), size(whole.shape), ones(whole.shape.size(), 1);
  offset[axis] = index;
  size[axis] = 1;
  Shape dropped = reducedShape(whole.shape, axis, /*keepDims=*/false);
  if (whole.constant)
    return ImportedValue::known(whole.constant->sliced(offset, size, ones).reshaped(dropped));
  ImportedValue result;
  result.type = whole.type;
  result.shape = dropped;
  result.value = reshapeTo(node.b, sliceOf(node.b, whole.value, offset, size, ones), dropped);
  return result;
}

/// Body: (states…, one position of each input…) -> (states…, scanned…)
mlir::LogicalResult buildScan(NodeContext &node) {
  const onnx::GraphProto *body = node.graphAttribute("body");
  int64_t inputs = node.intAttribute("num_scan_inputs", 0), states = node.inputCount() - inputs;
  if (!body || inputs < 1 || states < 0 || body->output_size() < states)
    return node.fail("its body does not fit " + llvm::Twine(inputs) + " scan inputs");
  size_t outputs = body->output_size() - states;
  std::vector<int64_t> none(inputs, 0), noneOut(outputs, 0);
  std::vector<int64_t> axes = node.intsAttribute("scan_input_axes", none);
  std::vector<int64_t> backward = node.intsAttribute("scan_input_directions", none);
  std::vector<int64_t> outAxes = node.intsAttribute("scan_output_axes", noneOut);
  std::vector<int64_t> outBackward = node.intsAttribute("scan_output_directions", noneOut);
  if (axes.size() != none.size() || backward.size() != none.size() || outAxes.size() != outputs ||
      outBackward.size() != outputs)
    return node.fail("axes or directions do not have one value for each scan input or output");
  int64_t count = -1;
  for (int64_t i = 0; i < inputs; ++i) {
    axes[i] = node.normalizedAxis(axes[i], node.rank(states + i));
    int64_t length = node.failedAlready() ? 0 : node.shape(states + i)[axes[i]];
    if (node.failedAlready() || (count >= 0 && count != length))
      return node.fail("the scan inputs differ in length");
    count = length;
  }
  if (count < 1 || count > kMaxIterations)
    return node.fail(llvm::Twine(count) + " iterations, expected 1 to " + llvm::Twine(kMaxIterations));
  Values carried;
  for (int64_t i = 0; i < states; ++i)
    carried.push_back(node.importedInput(i));
  std::vector<Values> scanned(outputs);
  for (int64_t t = 0; t < count; ++t) {
    Values arguments = carried;
    for (int64_t i = 0; i < inputs; ++i)
      arguments.push_back(
          positionOf(node, node.importedInput(states + i), axes[i], backward[i] ? count - 1 - t : t));
    mlir::FailureOr<Values> results = importBody(node, *body, arguments, node.b);
    if (failed(results))
      return mlir::failure();
    carried.assign(results->begin(), results->begin() + states);
    for (size_t i = 0; i < outputs; ++i)
      scanned[i].push_back((*results)[states + i]);
  }
  for (auto [index, value] : llvm::enumerate(carried))
    node.setResult(index, value);
  for (auto [index, parts] : llvm::enumerate(scanned)) {
    if (outBackward[index])
      std::reverse(parts.begin(), parts.end());
    int64_t axis = node.normalizedAxis(outAxes[index], parts.front().shape.size() + 1);
    mlir::FailureOr<ImportedValue> joined = stacked(node, parts, axis);
    if (failed(joined))
      return mlir::failure();
    node.setResult(states + index, *joined);
  }
  return mlir::success();
}

/// Opset 8: all values have a batch dimension in front, for whose positions the body runs on its own.
mlir::LogicalResult buildBatchedScan(NodeContext &node) {
  const onnx::GraphProto *body = node.graphAttribute("body");
  int64_t inputs = node.intAttribute("num_scan_inputs", 0), states = node.inputCount() - 1 - inputs;
  std::vector<int64_t> none(std::max<int64_t>(inputs, 0), 0), backward = node.intsAttribute("directions", none);
  if (!body || inputs < 1 || states < 0 || body->output_size() < states || backward.size() != none.size())
    return node.fail("its body does not fit " + llvm::Twine(inputs) + " scan inputs");
  if (node.hasInput(0))
    return node.fail("sequence_lens (input 0) is not supported");
  int64_t scan = 1 + states, rank = node.rank(scan);
  int64_t batch = rank < 2 ? 0 : node.shape(scan)[0], count = rank < 2 ? 0 : node.shape(scan)[1];
  for (int64_t i = 1; i < scan + inputs; ++i)
    if (node.rank(i) < (i < scan ? 1 : 2) || node.shape(i)[0] != batch || (i >= scan && node.shape(i)[1] != count))
      return node.fail("input " + llvm::Twine(i) + " of shape " + shapeText(node.shape(i)) + " does not fit " +
                       shapeText(node.shape(scan)));
  if (batch < 1 || count < 1 || batch * count > kMaxIterations)
    return node.fail(llvm::Twine(batch) + " times " + llvm::Twine(count) + " iterations, expected 1 to " +
                     llvm::Twine(kMaxIterations));
  std::vector<Values> results(body->output_size());
  for (int64_t item = 0; item < batch; ++item) {
    Values carried;
    for (int64_t i = 0; i < states; ++i)
      carried.push_back(positionOf(node, node.importedInput(1 + i), 0, item));
    std::vector<Values> scanned(body->output_size() - states);
    for (int64_t t = 0; t < count; ++t) {
      Values arguments = carried;
      for (int64_t i = 0; i < inputs; ++i)
        arguments.push_back(positionOf(node, positionOf(node, node.importedInput(scan + i), 0, item), 0,
                                       backward[i] ? count - 1 - t : t));
      mlir::FailureOr<Values> step = importBody(node, *body, arguments, node.b);
      if (failed(step))
        return mlir::failure();
      carried.assign(step->begin(), step->begin() + states);
      for (size_t i = 0; i < scanned.size(); ++i)
        scanned[i].push_back((*step)[states + i]);
    }
    for (int64_t i = 0; i < states; ++i)
      results[i].push_back(carried[i]);
    for (size_t i = 0; i < scanned.size(); ++i) {
      mlir::FailureOr<ImportedValue> joined = stacked(node, scanned[i], 0);
      if (failed(joined))
        return mlir::failure();
      results[states + i].push_back(*joined);
    }
  }
  for (auto [index, parts] : llvm::enumerate(results)) {
    mlir::FailureOr<ImportedValue> joined = stacked(node, parts, 0);
    if (failed(joined))
      return mlir::failure();
    node.setResult(index, *joined);
  }
  return mlir::success();
}

constexpr OperatorEntry kOperators[] = {
    {"", "If", 1, 1, 1, buildIf},
    {"", "Loop", 1, 0, kAnyInputs, buildLoop, "", /*takesAnyValue=*/true},
    {"", "Scan", 8, 0, kAnyInputs, buildBatchedScan, "no sequence_lens"},
    {"", "Scan", 9, 1, kAnyInputs, buildScan},
};

} // namespace

llvm::ArrayRef<OperatorEntry> controlFlowOperators() { return kOperators; }

} // namespace autotune
