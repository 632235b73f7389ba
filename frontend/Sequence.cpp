// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sequences and optionals: they exist at import only, so their lengths and the positions that are read must
// be known.
#include "frontend/Emit.h"
#include "frontend/ImportContext.h"
#include "frontend/OnnxProto.h"
#include "frontend/OperatorTable.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace autotune {

using mlir::Value;

namespace {

using Values = std::vector<ImportedValue>;

/// The elements of operand `index`; null (after an error) when it is no sequence.
const Values *sequenceInput(NodeContext &node, size_t index) {
  const Values *elements = node.importedInput(index).elements.get();
  if (!elements)
    (void)node.fail("input " + llvm::Twine(index) + " is not a sequence");
  return elements;
}

mlir::LogicalResult requireTensor(NodeContext &node, size_t index) {
  return node.importedInput(index).isTensor() ? mlir::success()
                                              : node.fail("input " + llvm::Twine(index) + " is not a tensor");
}

/// A position of a sequence, counted from the front; `fallback` when the operand is absent.
mlir::FailureOr<int64_t> positionInput(NodeContext &node, size_t index, int64_t length, int64_t fallback) {
  std::optional<std::vector<int64_t>> given = node.constantInts(index);
  if (node.failedAlready())
    return mlir::failure();
  if (!given)
    return fallback;
  int64_t position = given->size() == 1 ? given->front() : length;
  if (position < -length || position >= length)
    return node.fail("position " + llvm::Twine(position) + " is outside a sequence of " +
                     llvm::Twine(length));
  return position < 0 ? position + length : position;
}

mlir::LogicalResult buildConstruct(NodeContext &node) {
  Values elements;
  for (size_t i = 0; i < node.inputCount(); ++i) {
    if (failed(requireTensor(node, i)))
      return mlir::failure();
    elements.push_back(node.importedInput(i));
  }
  node.setResult(0, ImportedValue::sequence(std::move(elements)));
  return mlir::success();
}

mlir::LogicalResult buildEmpty(NodeContext &node) {
  node.setResult(0, ImportedValue::sequence({}));
  return mlir::success();
}

mlir::LogicalResult buildAt(NodeContext &node) {
  const Values *elements = sequenceInput(node, 0);
  if (!elements)
    return mlir::failure();
  auto position = positionInput(node, 1, elements->size(), 0);
  if (failed(position))
    return mlir::failure();
  node.setResult(0, (*elements)[*position]);
  return mlir::success();
}

mlir::LogicalResult buildInsert(NodeContext &node) {
  const Values *elements = sequenceInput(node, 0);
  if (!elements || failed(requireTensor(node, 1)))
    return mlir::failure();
  // Behind the last element is a position too, and the default.
  int64_t length = elements->size();
  std::optional<std::vector<int64_t>> given = node.constantInts(2);
  int64_t position = given && given->size() == 1 ? given->front() : length;
  if (node.failedAlready() || position < -length || position > length)
    return node.fail("position " + llvm::Twine(position) + " is outside a sequence of " +
                     llvm::Twine(length));
  Values longer = *elements;
  longer.insert(longer.begin() + (position < 0 ? position + length : position), node.importedInput(1));
  node.setResult(0, ImportedValue::sequence(std::move(longer)));
  return mlir::success();
}

mlir::LogicalResult buildErase(NodeContext &node) {
  const Values *elements = sequenceInput(node, 0);
  if (!elements)
    return mlir::failure();
  auto position = positionInput(node, 1, elements->size(), static_cast<int64_t>(elements->size()) - 1);
  if (failed(position))
    return mlir::failure();
  if (elements->empty())
    return node.fail("the sequence is empty");
  Values shorter = *elements;
  shorter.erase(shorter.begin() + *position);
  node.setResult(0, ImportedValue::sequence(std::move(shorter)));
  return mlir::success();
}

mlir::LogicalResult buildLength(NodeContext &node) {
  const Values *elements = sequenceInput(node, 0);
  if (!elements)
    return mlir::failure();
  node.setResult(0, ConstantTensor::ints(static_cast<int64_t>(elements->size())).reshaped({}));
  return mlir::success();
}

ImportedValue imported(Value value, ElementType type) {
  ImportedValue result;
  result.type = type;
  result.shape.assign(shapeOf(value).begin(), shapeOf(value).end());
  result.value = value;
  return result;
}

/// Part of input 0; known data stay known.
ImportedValue partOf(NodeContext &node, llvm::ArrayRef<int64_t> offset, llvm::ArrayRef<int64_t> size,
                     llvm::ArrayRef<int64_t> shape) {
  Shape ones(offset.size(), 1);
  if (const ConstantTensor *constant = node.constant(0))
    return ImportedValue::known(constant->sliced(offset, size, ones).reshaped(shape));
  return imported(reshapeTo(node.b, sliceOf(node.b, node.input(0), offset, size, ones), shape), node.type(0));
}

/// Sizes of the parts: a list, one size for all (the last may be smaller), or 1 each.
mlir::FailureOr<std::vector<int64_t>> partSizes(NodeContext &node, int64_t dim) {
  std::optional<std::vector<int64_t>> split = node.constantInts(1);
  if (node.failedAlready())
    return mlir::failure();
  bool list = split && node.rank(1) > 0;
  std::vector<int64_t> sizes;
  if (list) {
    sizes = *split;
  } else {
    int64_t each = split ? split->front() : 1;
    if (each < 1)
      return node.fail("split is " + llvm::Twine(each));
    for (int64_t at = 0; at < dim; at += each)
      sizes.push_back(std::min(each, dim - at));
  }
  int64_t total = 0;
  for (int64_t size : sizes)
    total += size < 0 || size > dim ? dim + 1 : size;
  if (total != dim)
    return node.fail("the sizes " + shapeText(sizes) + " do not add up to dimension " + llvm::Twine(dim));
  return sizes;
}

// Every element is a value of its own.
constexpr int64_t kMaxParts = 1 << 16;

mlir::LogicalResult buildSplitToSequence(NodeContext &node) {
  if (failed(requireTensor(node, 0)))
    return mlir::failure();
  int64_t axis = node.axisAttribute("axis", 0, node.rank(0));
  if (node.failedAlready())
    return mlir::failure();
  Shape offset(node.rank(0), 0), size(node.shape(0));
  if (size[axis] > kMaxParts)
    return node.fail("dimension " + llvm::Twine(size[axis]) + " has too many parts");
  auto sizes = partSizes(node, size[axis]);
  if (failed(sizes))
    return mlir::failure();
  // The axis can only be dropped where no sizes are given.
  bool keepDims = node.intAttribute("keepdims", 1) != 0 || node.hasInput(1);
  Values parts;
  for (int64_t part : *sizes) {
    size[axis] = part;
    parts.push_back(
        partOf(node, offset, size, keepDims ? size : reducedShape(size, axis, /*keepDims=*/false)));
    offset[axis] += part;
  }
  node.setResult(0, ImportedValue::sequence(std::move(parts)));
  return mlir::success();
}

/// Known tensors of one type joined along `axis`.
ConstantTensor joinedConstants(llvm::ArrayRef<ImportedValue> parts, llvm::ArrayRef<int64_t> shape,
                               int64_t axis) {
  unsigned width = byteSize(parts[0].type);
  int64_t outer = elementCount(shape.take_front(axis)), inner = elementCount(shape.drop_front(axis + 1));
  std::vector<char> bytes;
  bytes.reserve(elementCount(shape) * width);
  for (int64_t row = 0; row < outer; ++row)
    for (const ImportedValue &part : parts) {
      int64_t count = part.shape[axis] * inner;
      for (int64_t i = row * count; i < (row + 1) * count; ++i)
        bytes.insert(bytes.end(), part.constant->element(i), part.constant->element(i) + width);
    }
  return ConstantTensor::own(parts[0].type, shape, std::move(bytes));
}

/// Gives each part one more dimension, of size 1.
void addAxis(NodeContext &node, Values &parts, int64_t axis) {
  for (ImportedValue &part : parts) {
    Shape shape = part.shape;
    shape.insert(shape.begin() + axis, 1);
    if (part.constant)
      part = ImportedValue::known(part.constant->reshaped(shape));
    else
      part = imported(reshapeTo(node.b, part.value, shape), part.type);
  }
}

mlir::LogicalResult buildConcatFromSequence(NodeContext &node) {
  const Values *elements = sequenceInput(node, 0);
  if (!elements)
    return mlir::failure();
  if (elements->empty() || !llvm::all_of(*elements, [](const ImportedValue &v) { return v.isTensor(); }))
    return node.fail("the sequence is empty, or holds sequences");
  Values parts = *elements;
  bool newAxis = node.intAttribute("new_axis", 0) != 0;
  int64_t axis = node.axisAttribute("axis", 0, parts[0].shape.size() + (newAxis ? 1 : 0));
  if (node.failedAlready())
    return mlir::failure();
  for (const ImportedValue &part : parts)
    if (newAxis && part.shape.size() != parts[0].shape.size())
      return node.fail("the elements differ in rank");
  if (newAxis)
    addAxis(node, parts, axis);
  Shape shape = parts[0].shape;
  shape[axis] = 0;
  for (const ImportedValue &part : parts) {
    Shape expected = shape;
    if (part.shape.size() == shape.size())
      expected[axis] = part.shape[axis];
    if (part.shape != expected || part.type != parts[0].type)
      return node.fail("an element is " + spelling(part.type) + " of shape " + shapeText(part.shape) +
                       ", which does not fit " + shapeText(parts[0].shape) + " of " +
                       spelling(parts[0].type));
    shape[axis] += part.shape[axis];
  }
  if (!checkedByteCount(shape, parts[0].type))
    return node.fail("the result " + shapeText(shape) + " is too large");
  if (llvm::all_of(parts, [](const ImportedValue &part) { return part.constant.has_value(); })) {
    node.setResult(0, joinedConstants(parts, shape, axis));
    return mlir::success();
  }
  llvm::SmallVector<Value> values;
  for (ImportedValue &part : parts)
    if (part.shape[axis] != 0)
      values.push_back(node.importContext().valueOf(part));
  Value joined =
      values.size() == 1 ? values[0] : node.b.create<mlir::tensor::ConcatOp>(axis, values).getResult();
  node.setResult(0, joined, parts[0].type);
  return mlir::success();
}

/// The body once for each position; operands that are tensors are the same for all.
mlir::LogicalResult buildSequenceMap(NodeContext &node) {
  const onnx::GraphProto *body = node.graphAttribute("body");
  const Values *first = sequenceInput(node, 0);
  if (!body || !first)
    return node.fail("the body is missing");
  std::vector<Values> outputs(node.outputCount());
  for (size_t i = 0; i < first->size(); ++i) {
    Values arguments;
    for (size_t k = 0; k < node.inputCount(); ++k) {
      const ImportedValue &input = node.importedInput(k);
      if (input.elements && input.elements->size() != first->size())
        return node.fail("input " + llvm::Twine(k) + " has " + llvm::Twine(input.elements->size()) +
                         " elements, the first has " + llvm::Twine(first->size()));
      arguments.push_back(input.elements ? (*input.elements)[i] : input);
    }
    llvm::Expected<Values> results = node.importContext().importGraph(*body, node.b, arguments);
    if (!results)
      return node.fail(llvm::toString(results.takeError()));
    if (results->size() < outputs.size())
      return node.fail("its body has " + llvm::Twine(results->size()) + " outputs, the node has " +
                       llvm::Twine(outputs.size()));
    for (auto [output, result] : llvm::zip(outputs, *results)) {
      if (!result.present)
        return node.fail("an output of its body is defined by no node");
      output.push_back(result);
    }
  }
  for (auto [index, output] : llvm::enumerate(outputs))
    node.setResult(index, ImportedValue::sequence(std::move(output)));
  return mlir::success();
}

mlir::LogicalResult buildOptional(NodeContext &node) {
  if (node.hasInput(0))
    node.forward(0, 0);
  else
    node.setResult(0, ImportedValue::emptyOptional());
  return mlir::success();
}

mlir::LogicalResult buildGetElement(NodeContext &node) {
  if (node.importedInput(0).isEmptyOptional)
    return node.fail("the optional has no value");
  node.forward(0, 0);
  return mlir::success();
}

mlir::LogicalResult buildHasElement(NodeContext &node) {
  bool has = node.hasInput(0) && !node.importedInput(0).isEmptyOptional;
  node.setResult(0, ConstantTensor::scalar(ElementType::Bool, has));
  return mlir::success();
}

constexpr llvm::StringLiteral
    kStatic("sequences and optionals exist at import only: lengths and positions known");

constexpr OperatorEntry kOperators[] = {
    {"", "ConcatFromSequence", 11, 1, 1, buildConcatFromSequence, kStatic, /*takesAnyValue=*/true},
    {"", "Optional", 15, 0, 1, buildOptional, kStatic, /*takesAnyValue=*/true},
    {"", "OptionalGetElement", 15, 1, 1, buildGetElement, kStatic, /*takesAnyValue=*/true},
    {"", "OptionalHasElement", 15, 0, 1, buildHasElement, kStatic, /*takesAnyValue=*/true},
    {"", "SequenceAt", 11, 2, 2, buildAt, kStatic, /*takesAnyValue=*/true},
    {"", "SequenceConstruct", 11, 1, kAnyInputs, buildConstruct, kStatic, /*takesAnyValue=*/true},
    {"", "SequenceEmpty", 11, 0, 0, buildEmpty, kStatic, /*takesAnyValue=*/true},
    {"", "SequenceErase", 11, 1, 2, buildErase, kStatic, /*takesAnyValue=*/true},
    {"", "SequenceInsert", 11, 2, 3, buildInsert, kStatic, /*takesAnyValue=*/true},
    {"", "SequenceLength", 11, 1, 1, buildLength, kStatic, /*takesAnyValue=*/true},
    {"", "SequenceMap", 17, 1, kAnyInputs, buildSequenceMap, kStatic, /*takesAnyValue=*/true},
    {"", "SplitToSequence", 11, 1, 2, buildSplitToSequence, kStatic, /*takesAnyValue=*/true},
};

} // namespace

llvm::ArrayRef<OperatorEntry> sequenceOperators() { return kOperators; }

} // namespace autotune
