// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Typed access to one ONNX node.
#include "frontend/NodeContext.h"

#include "frontend/ImportContext.h"
#include "frontend/OnnxProto.h"
#include "frontend/TensorProto.h"

namespace autotune {

std::string nodeLabel(const onnx::NodeProto &node) {
  if (!node.name().empty())
    return node.name();
  return node.op_type() + (node.output_size() ? "_" + node.output(0) : std::string());
}

std::vector<int64_t> firstIntegers(int64_t count) {
  auto range = llvm::seq<int64_t>(0, count);
  return std::vector<int64_t>(range.begin(), range.end());
}

ImportedValue ImportedValue::known(const ConstantTensor &constant) {
  ImportedValue value;
  value.type = constant.type();
  value.shape.assign(constant.shape().begin(), constant.shape().end());
  value.constant = constant;
  return value;
}

ImportedValue ImportedValue::sequence(std::vector<ImportedValue> elements) {
  ImportedValue value;
  value.elements = std::make_shared<const std::vector<ImportedValue>>(std::move(elements));
  return value;
}

ImportedValue ImportedValue::emptyOptional() {
  ImportedValue value;
  value.isEmptyOptional = true;
  return value;
}

NodeContext::NodeContext(ImportContext &import, const onnx::NodeProto &node, int64_t version,
                         mlir::OpBuilder builder, mlir::Block *scratch)
    : b(mlir::NameLoc::get(builder.getStringAttr(nodeLabel(node))), builder), results(node.output_size()),
      import(import), node(node), opsetVersion(version), scratch(scratch) {
  for (const std::string &name : node.input())
    inputs.push_back(name.empty() ? nullptr : import.find(name));
}

llvm::StringRef NodeContext::opType() const { return node.op_type(); }
mlir::Type NodeContext::mlirType(ElementType type) const { return toMlirType(type, b.getContext()); }
mlir::Type NodeContext::elementType(size_t index) const { return mlirType(type(index)); }

mlir::Value NodeContext::input(size_t index) {
  ImportedValue &value = *inputs[index];
  if (!scratch || !value.constant)
    return import.valueOf(value);
  mlir::Value &argument = scratchInputs[index];
  if (!argument)
    argument = scratchArgument(*value.constant);
  return argument;
}

mlir::Value NodeContext::scratchArgument(const ConstantTensor &constant) {
  auto type = mlir::RankedTensorType::get(constant.shape(), mlirType(constant.type()));
  mlir::BlockArgument argument = scratch->addArgument(type, b.getLoc());
  scratchValues.emplace(argument.getArgNumber(), constant);
  return argument;
}

mlir::Value NodeContext::materialize(const ConstantTensor &constant) {
  if (scratch)
    return scratchArgument(constant);
  return import.constantOp(constant, nodeLabel(node));
}

const ConstantTensor *NodeContext::constant(size_t index) const {
  return hasInput(index) && inputs[index]->constant ? &*inputs[index]->constant : nullptr;
}

std::optional<std::vector<int64_t>> NodeContext::constantInts(size_t index) {
  if (!hasInput(index))
    return std::nullopt;
  const ConstantTensor *tensor = constant(index);
  // Shapes, axes, sizes of parts: never many.
  constexpr int64_t kMostIntegers = 4096;
  if (!tensor || isFloat(tensor->type()) || tensor->size() > kMostIntegers) {
    const std::string &name = inputs[index]->name;
    bool isInput = mlir::isa_and_nonnull<mlir::BlockArgument>(inputs[index]->value);
    (void)fail("input " + llvm::Twine(index) + " ('" + name +
               "') must be integers known at import: the shape of the result depends on the data" +
               (isInput ? "; fix it with --input-value " + name + "=…" : std::string()));
    return std::vector<int64_t>();
  }
  return tensor->toInts();
}

const onnx::AttributeProto *NodeContext::attribute(llvm::StringRef name) const {
  for (const onnx::AttributeProto &attribute : node.attribute())
    if (name == attribute.name())
      return &attribute;
  return nullptr;
}

const onnx::AttributeProto *NodeContext::typedAttribute(llvm::StringRef name, int type,
                                                        llvm::StringRef typeName) {
  const onnx::AttributeProto *found = attribute(name);
  if (!found)
    return nullptr;
  if (found->type() == type)
    return found;
  (void)fail("attribute '" + name + "' is " + onnx::AttributeProto::AttributeType_Name(found->type()) +
             ", expected " + typeName);
  return nullptr;
}

bool NodeContext::hasAttribute(llvm::StringRef name) const { return attribute(name); }

int64_t NodeContext::intAttribute(llvm::StringRef name, int64_t fallback) {
  const auto *found = typedAttribute(name, onnx::AttributeProto::INT, "INT");
  return found ? found->i() : fallback;
}

double NodeContext::floatAttribute(llvm::StringRef name, double fallback) {
  const auto *found = typedAttribute(name, onnx::AttributeProto::FLOAT, "FLOAT");
  return found ? found->f() : fallback;
}

std::string NodeContext::stringAttribute(llvm::StringRef name, llvm::StringRef fallback) {
  const auto *found = typedAttribute(name, onnx::AttributeProto::STRING, "STRING");
  return found ? found->s() : fallback.str();
}

std::vector<int64_t> NodeContext::intsAttribute(llvm::StringRef name, llvm::ArrayRef<int64_t> fallback) {
  const auto *found = typedAttribute(name, onnx::AttributeProto::INTS, "INTS");
  if (!found)
    return fallback.vec();
  return std::vector<int64_t>(found->ints().begin(), found->ints().end());
}

std::vector<float> NodeContext::floatsAttribute(llvm::StringRef name) {
  const auto *found = typedAttribute(name, onnx::AttributeProto::FLOATS, "FLOATS");
  return found ? std::vector<float>(found->floats().begin(), found->floats().end()) : std::vector<float>();
}

std::vector<std::string> NodeContext::stringsAttribute(llvm::StringRef name) {
  const auto *found = typedAttribute(name, onnx::AttributeProto::STRINGS, "STRINGS");
  return found ? std::vector<std::string>(found->strings().begin(), found->strings().end())
               : std::vector<std::string>();
}

std::optional<ConstantTensor> NodeContext::tensorAttribute(llvm::StringRef name) {
  const auto *found = typedAttribute(name, onnx::AttributeProto::TENSOR, "TENSOR");
  if (!found)
    return std::nullopt;
  llvm::Expected<ConstantTensor> tensor = toConstant(found->t(), import.external);
  if (tensor)
    return std::move(*tensor);
  (void)fail("attribute '" + name + "': " + llvm::toString(tensor.takeError()));
  return std::nullopt;
}

const onnx::GraphProto *NodeContext::graphAttribute(llvm::StringRef name) {
  const auto *found = typedAttribute(name, onnx::AttributeProto::GRAPH, "GRAPH");
  return found ? &found->g() : nullptr;
}

std::optional<std::vector<int64_t>> NodeContext::intsAttributeOrInput(llvm::StringRef name, size_t index) {
  if (hasAttribute(name))
    return intsAttribute(name);
  return constantInts(index);
}

int64_t NodeContext::normalizedAxis(int64_t axis, int64_t rank) {
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  (void)fail("axis " + llvm::Twine(axis) + " is outside a tensor of rank " + llvm::Twine(rank));
  return 0;
}

int64_t NodeContext::axisAttribute(llvm::StringRef name, int64_t fallback, int64_t rank) {
  return normalizedAxis(intAttribute(name, fallback), rank);
}

std::vector<int64_t> NodeContext::normalizedAxes(llvm::ArrayRef<int64_t> axes, int64_t rank) {
  std::vector<int64_t> normalized;
  if (axes.size() > static_cast<size_t>(kMaxRank)) {
    (void)fail(llvm::Twine(axes.size()) + " axes, supported are " + llvm::Twine(kMaxRank));
    return normalized;
  }
  for (int64_t axis : axes)
    normalized.push_back(normalizedAxis(axis, rank));
  llvm::sort(normalized);
  normalized.erase(std::unique(normalized.begin(), normalized.end()), normalized.end());
  return normalized;
}

size_t NodeContext::outputCount() const { return node.output_size(); }

bool NodeContext::isOutputUsed(size_t index) const {
  return index < outputCount() && !node.output(index).empty() && import.isRead(node.output(index));
}

bool NodeContext::checkRank(int64_t rank) {
  if (rank > kMaxRank)
    (void)fail("the result has " + llvm::Twine(rank) + " dimensions, supported are " + llvm::Twine(kMaxRank));
  return rank <= kMaxRank;
}

void NodeContext::setResult(size_t index, mlir::Value value, std::optional<ElementType> type) {
  if (index >= results.size())
    return;
  auto tensorType = mlir::cast<mlir::RankedTensorType>(value.getType());
  if (!checkRank(tensorType.getRank()))
    return;
  ImportedValue result;
  mlir::Type element = tensorType.getElementType();
  bool likeInput = hasInput(0) && elementType(0) == element;
  if (type)
    result.type = *type;
  else if (likeInput)
    result.type = this->type(0);
  else
    result.type = fromMlirType(element);
  result.shape.assign(tensorType.getShape().begin(), tensorType.getShape().end());
  result.value = value;
  results[index] = std::move(result);
}

void NodeContext::setResult(size_t index, const ConstantTensor &constant) {
  setResult(index, ImportedValue::known(constant));
}

void NodeContext::setResult(size_t index, const ImportedValue &value) {
  if (index < results.size() && checkRank(value.shape.size()))
    results[index] = value;
}

void NodeContext::forward(size_t index, size_t operand) {
  if (index < results.size())
    results[index] = *inputs[operand];
}

std::unique_ptr<NodeContext> NodeContext::soleConsumer(size_t index, llvm::StringRef opType) {
  const onnx::NodeProto *reader = scratch ? nullptr : import.soleReader(node.output(index));
  if (!reader || opType != reader->op_type() || reader->input_size() == 0 || reader->output_size() == 0 ||
      reader->input(0) != node.output(index) || reader->domain() != node.domain())
    return nullptr;
  auto consumer = std::make_unique<NodeContext>(import, *reader, opsetVersion, b);
  for (size_t i = 1; i < consumer->inputCount(); ++i)
    if (!consumer->constant(i))
      return nullptr;
  return consumer;
}

void NodeContext::absorb(NodeContext &consumer) {
  import.markAbsorbed(node, consumer.node);
  absorbedOutputs.push_back(consumer.node.output(0));
}

mlir::LogicalResult NodeContext::spend(int64_t elements) {
  // An element that becomes part of the module costs more than a step of an evaluation: it is stored and
  // hashed.
  constexpr int64_t kStepsEach = 8;
  int64_t &left = import.budget.foldingSteps;
  if (elements > left / kStepsEach)
    return fail("it has " + llvm::Twine(elements) +
                " elements to compute at import, too many for what the model's file holds");
  left -= kStepsEach * elements;
  return mlir::success();
}

mlir::LogicalResult NodeContext::fail(const llvm::Twine &message) {
  if (error.empty())
    error = message.str();
  return mlir::failure();
}

} // namespace autotune
