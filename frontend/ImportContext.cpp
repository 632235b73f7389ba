// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks the nodes of a graph: builds run-time ops, evaluates what is known.
#include "frontend/ImportContext.h"

#include "frontend/ConstantEvaluator.h"
#include "frontend/Emit.h"
#include "frontend/OnnxProto.h"
#include "frontend/OperandTypes.h"
#include "frontend/OperatorTable.h"
#include "frontend/TensorProto.h"
#include "frontend/patterns/Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/ScopeExit.h"

namespace autotune {

mlir::Type toMlirType(ElementType type, mlir::MLIRContext *context) {
  switch (type) {
  case ElementType::F16:
    return mlir::Float16Type::get(context);
  case ElementType::BF16:
    return mlir::BFloat16Type::get(context);
  case ElementType::F32:
    return mlir::Float32Type::get(context);
  case ElementType::F64:
    return mlir::Float64Type::get(context);
  case ElementType::Bool:
    return mlir::IntegerType::get(context, 1);
  default:
    return mlir::IntegerType::get(context, 8 * byteSize(type));
  }
}

ElementType fromMlirType(mlir::Type type) {
  for (ElementType candidate : {ElementType::F16, ElementType::BF16, ElementType::F32, ElementType::F64,
                                ElementType::I8, ElementType::I16, ElementType::I32, ElementType::Bool})
    if (toMlirType(candidate, type.getContext()) == type)
      return candidate;
  return ElementType::I64;
}

mlir::DenseElementsAttr toAttribute(const ConstantTensor &constant, mlir::MLIRContext *context) {
  auto type = mlir::RankedTensorType::get(constant.shape(), toMlirType(constant.type(), context));
  if (constant.type() == ElementType::Bool) {
    llvm::SmallVector<bool> values;
    for (int64_t i = 0, e = constant.isSplat() ? 1 : constant.size(); i < e; ++i)
      values.push_back(constant.intAt(i));
    return mlir::DenseElementsAttr::get(type, values);
  }
  return mlir::DenseElementsAttr::getFromRawBuffer(type, constant.rawData());
}

ImportContext::ImportContext(mlir::func::FuncOp function, llvm::StringMap<int64_t> opsets,
                             const FunctionLibrary &functions, ExternalData *external,
                             const ImportLimits &limits)
    : budget(limits), external(external), function(function), opsets(std::move(opsets)),
      functions(functions) {
  scopes.push_back(std::make_unique<Scope>());
}

std::optional<int64_t> ImportContext::opsetVersion(llvm::StringRef domain) const {
  auto it = opsets.find(domain == "ai.onnx" ? "" : domain);
  if (it == opsets.end())
    return std::nullopt;
  return it->second;
}

ImportedValue *ImportContext::find(llvm::StringRef name) {
  for (auto &scope : llvm::reverse(scopes)) {
    auto it = scope->values.find(name);
    if (it != scope->values.end())
      return &it->second;
    if (!scope->seesOuterValues)
      break;
  }
  return nullptr;
}

void ImportContext::define(llvm::StringRef name, ImportedValue value) {
  value.name = name.str();
  scopes.back()->values[name] = std::move(value);
}

void ImportContext::addReader(llvm::StringRef name, const onnx::NodeProto *node) {
  Readers &entry = scopes.back()->readers[name];
  ++entry.count;
  entry.node = node;
}

void ImportContext::countNestedUses(const onnx::GraphProto &graph) {
  for (const onnx::NodeProto &node : graph.node()) {
    for (const std::string &name : node.input())
      addReader(name, nullptr);
    for (const onnx::AttributeProto &attribute : node.attribute())
      if (attribute.has_g())
        countNestedUses(attribute.g());
  }
  for (const onnx::ValueInfoProto &output : graph.output())
    addReader(output.name(), nullptr);
}

void ImportContext::countUses(const onnx::GraphProto &graph) {
  for (const onnx::NodeProto &node : graph.node()) {
    for (const std::string &name : node.output())
      scopes.back()->producers[name] = &node;
    for (const std::string &name : node.input())
      addReader(name, &node);
    for (const onnx::AttributeProto &attribute : node.attribute())
      if (attribute.has_g())
        countNestedUses(attribute.g());
  }
  for (const onnx::ValueInfoProto &output : graph.output())
    addReader(output.name(), nullptr);
}

const onnx::NodeProto *ImportContext::soleReader(llvm::StringRef name) const {
  auto it = scopes.back()->readers.find(name);
  return it != scopes.back()->readers.end() && it->second.count == 1 ? it->second.node : nullptr;
}

unsigned ImportContext::readerCount(llvm::StringRef name) const {
  auto it = scopes.back()->readers.find(name);
  return it == scopes.back()->readers.end() ? 0 : it->second.count;
}

const onnx::NodeProto *ImportContext::producer(llvm::StringRef name) const {
  const onnx::NodeProto *node = scopes.back()->producers.lookup(name);
  return node && !absorbed.contains(node) && !absorbers.contains(node) ? node : nullptr;
}

void ImportContext::markAbsorbed(const onnx::NodeProto &node, const onnx::NodeProto &consumer) {
  absorbed.insert(&consumer);
  absorbers.insert(&node);
}

void ImportContext::noteIdea(const onnx::NodeProto &node, llvm::StringRef idea,
                             llvm::ArrayRef<const onnx::NodeProto *> pieces) {
  for (const onnx::NodeProto *piece : pieces)
    scopes.back()->ideas.erase(piece);
  scopes.back()->ideas[&node] = idea;
}

std::map<std::string, int64_t> ImportContext::ideaCounts() const {
  std::map<std::string, int64_t> counts = finishedIdeas;
  for (const auto &scope : scopes)
    for (const auto &entry : scope->ideas)
      ++counts[entry.second.str()];
  return counts;
}

mlir::Value ImportContext::valueOf(ImportedValue &value) {
  if (value.value)
    return value.value;
  value.value = constantOp(*value.constant, value.name);
  // From now on the attribute holds the bytes: the model's copy may go.
  if (value.type != ElementType::Bool)
    value.constant =
        ConstantTensor::view(value.type, value.shape,
                             llvm::cast<mlir::DenseElementsAttr>(
                                 llvm::cast<mlir::arith::ConstantOp>(value.value.getDefiningOp()).getValue())
                                 .getRawData());
  return value.value;
}

mlir::Value ImportContext::constantOp(const ConstantTensor &constant, llvm::StringRef name) {
  mlir::OpBuilder builder(context());
  mlir::Block &entry = function.getBody().front();
  if (lastConstant)
    builder.setInsertionPointAfter(lastConstant);
  else
    builder.setInsertionPointToStart(&entry);
  auto location = mlir::NameLoc::get(builder.getStringAttr(name));
  auto op = builder.create<mlir::arith::ConstantOp>(location, toAttribute(constant, context()));
  lastConstant = op;
  return op;
}

namespace {

llvm::Error nodeError(const onnx::NodeProto &node, const llvm::Twine &message) {
  return llvm::createStringError("node '" + llvm::Twine(nodeLabel(node)) + "' (" + node.op_type() +
                                 "): " + message);
}

constexpr size_t kMaxNesting = 64;
// Bodies of functions are copied for each call: a large one that is called often must not fill the memory.
constexpr int64_t kMaxBodyBytes = int64_t(1) << 30;
// Of the nodes that are wrong, this many are named.
constexpr size_t kShownFailures = 10;

std::string expectedCount(const OperatorEntry &entry) {
  if (entry.maxInputs == entry.minInputs)
    return std::to_string(entry.minInputs);
  return std::to_string(entry.minInputs) +
         (entry.maxInputs == kAnyInputs ? " or more" : " to " + std::to_string(entry.maxInputs));
}

llvm::Error checkInputCount(const onnx::NodeProto &node, const OperatorEntry &entry) {
  unsigned count = node.input_size();
  if (count < entry.minInputs || count > entry.maxInputs)
    return nodeError(node, llvm::Twine(count) + " inputs, expected " + expectedCount(entry));
  // Where any number of operands is taken, none may be left out (but those in front of a loop's).
  bool needsAll = entry.maxInputs == kAnyInputs && entry.minInputs > 0;
  for (unsigned i = 0; i < (needsAll ? count : entry.minInputs); ++i)
    if (node.input(i).empty())
      return nodeError(node, "input " + llvm::Twine(i) + " is missing");
  return llvm::Error::success();
}

} // namespace

/// What can be wrong with the names of a node's operands and results.
llvm::Error ImportContext::checkOperands(const onnx::NodeProto &node) {
  budget.countNode();
  if (std::string text = budget.exceeded(); !text.empty())
    return nodeError(node, text);
  if (node.output_size() == 0)
    return nodeError(node, "has no output");
  for (const std::string &input : node.input())
    if (!input.empty() && !find(input))
      return nodeError(node, "reads '" + llvm::Twine(input) + "', which nothing before it defines");
  for (const std::string &output : node.output())
    if (!output.empty() && scopes.back()->values.count(output))
      return nodeError(node, "defines '" + llvm::Twine(output) + "', which is defined already");
  return llvm::Error::success();
}

/// Most builders know tensors only, of the types that ONNX allows.
llvm::Error ImportContext::checkTensors(const onnx::NodeProto &node, const OperatorEntry &entry) {
  for (const std::string &name : node.input()) {
    const ImportedValue *value = name.empty() || entry.takesAnyValue ? nullptr : find(name);
    if (value && !value->isTensor())
      return nodeError(node, "reads '" + llvm::Twine(name) + "', which is " +
                                 (value->elements ? "a sequence" : "an optional without a value") +
                                 ", expected a tensor");
  }
  std::vector<std::optional<ElementType>> types;
  for (const std::string &name : node.input()) {
    const ImportedValue *value = name.empty() ? nullptr : find(name);
    types.push_back(value && value->isTensor() ? std::optional(value->type) : std::nullopt);
  }
  if (std::optional<std::string> wrong =
          wrongOperandType(node.domain(), node.op_type(), opsetVersion(node.domain()).value_or(0), types))
    return nodeError(node, *wrong);
  return llvm::Error::success();
}

llvm::Error ImportContext::importNodes(const onnx::GraphProto &graph, mlir::OpBuilder &builder) {
  builder.setListener(&budget);
  // Constants first: exporters put them right before their reader, and folding looks ahead.
  auto isConstant = [](const onnx::NodeProto &node) {
    return node.op_type() == "Constant" && node.domain().empty();
  };
  for (const onnx::NodeProto &node : graph.node())
    if (isConstant(node))
      if (llvm::Error error = importOrCollect(node, builder))
        return error;
  for (const onnx::NodeProto &node : graph.node())
    if (!isConstant(node) && !absorbed.contains(&node))
      if (llvm::Error error = importOrCollect(node, builder))
        return error;
  return scopes.size() == 1 ? collectedFailures() : llvm::Error::success();
}

llvm::Error ImportContext::importOrCollect(const onnx::NodeProto &node, mlir::OpBuilder &builder) {
  if (scopes.size() > 1)
    return importNode(node, builder);
  llvm::Error error = dependsOnFailure(node) ? llvm::Error::success() : importNode(node, builder);
  bool skipped = !error && dependsOnFailure(node);
  if (!error && !skipped)
    return error;
  // Beyond a limit nothing more is tried.
  if (error && !budget.exceeded().empty())
    return error;
  if (error)
    failures.push_back(llvm::toString(std::move(error)));
  for (const std::string &output : node.output())
    missing.insert(output);
  return llvm::Error::success();
}

/// Nested graphs may read values of the outermost one.
bool ImportContext::dependsOnFailure(const onnx::NodeProto &node) const {
  if (failures.empty())
    return false;
  auto isMissing = [&](const std::string &name) { return missing.contains(name); };
  return llvm::any_of(node.input(), isMissing) ||
         llvm::any_of(node.attribute(), [&](const onnx::AttributeProto &attribute) {
           return attribute.has_g() &&
                  (llvm::any_of(attribute.g().output(),
                                [&](const auto &output) { return isMissing(output.name()); }) ||
                   llvm::any_of(attribute.g().node(),
                                [&](const auto &inner) { return dependsOnFailure(inner); }));
         });
}

llvm::Error ImportContext::collectedFailures() const {
  if (failures.empty())
    return llvm::Error::success();
  std::string text;
  if (failures.size() > 1)
    text = std::to_string(failures.size()) + " nodes cannot be imported: ";
  text += llvm::join(llvm::ArrayRef(failures).take_front(kShownFailures), "; ");
  if (failures.size() > kShownFailures)
    text += "; and " + std::to_string(failures.size() - kShownFailures) + " more";
  return llvm::createStringError(llvm::Twine(text));
}

/// Nodes with known operands are evaluated, except those with nested graphs, which may capture run-time
/// values.
bool ImportContext::canEvaluate(const onnx::NodeProto &node) {
  bool nested = llvm::any_of(node.attribute(), [](const onnx::AttributeProto &a) { return a.has_g(); });
  return !nested && node.input_size() > 0 && llvm::all_of(node.input(), [&](const std::string &name) {
    return name.empty() || find(name)->constant;
  });
}

llvm::Error ImportContext::importNode(const onnx::NodeProto &node, mlir::OpBuilder &builder) {
  std::optional<int64_t> version = opsetVersion(node.domain());
  if (!version)
    return nodeError(node, "its domain '" + llvm::Twine(node.domain()) +
                               "' is not among the model's opset imports");
  if (llvm::Error error = checkOperands(node))
    return error;
  const OperatorEntry *entry = functions.ofModel(node.domain(), node.op_type())
                                   ? nullptr
                                   : findOperator(node.domain(), node.op_type(), *version);
  if (!entry)
    return importFunctionNode(node, *version, builder);
  if (llvm::Error error = checkInputCount(node, *entry))
    return error;
  if (llvm::Error error = checkTensors(node, *entry))
    return error;
  if (canEvaluate(node)) {
    mlir::Block scratch;
    mlir::OpBuilder scratchBuilder(context());
    scratchBuilder.setInsertionPointToEnd(&scratch);
    NodeContext known(*this, node, *version, scratchBuilder, &scratch);
    mlir::LogicalResult built = entry->build(known);
    if (failed(built) || known.failedAlready())
      return nodeError(node, known.errorMessage());
    if (evaluateResults(known, scratch))
      return defineResults(known);
  }
  if (importIdea(node, builder))
    return llvm::Error::success();
  NodeContext nodeContext(*this, node, *version, builder);
  mlir::LogicalResult built = entry->build(nodeContext);
  if (failed(built) || nodeContext.failedAlready())
    return nodeError(node, nodeContext.errorMessage());
  return defineResults(nodeContext);
}

bool ImportContext::importIdea(const onnx::NodeProto &node, mlir::OpBuilder &builder) {
  std::optional<Idea> idea = recognizeIdea(*this, node);
  if (!idea)
    return false;
  NodeContext whole(*this, idea->node, kNewestOpset, builder);
  if (failed(idea->build(whole)) || whole.failedAlready() || !whole.results[0])
    return false;
  noteIdea(node, idea->name, idea->pieces);
  define(node.output(0), *whole.results[0]);
  return true;
}

llvm::Error ImportContext::importFunctionNode(const onnx::NodeProto &node, int64_t version,
                                              mlir::OpBuilder &builder) {
  std::vector<std::optional<ElementType>> types;
  std::vector<Shape> shapes;
  std::vector<ImportedValue> arguments;
  for (const std::string &name : node.input()) {
    ImportedValue *value = name.empty() ? nullptr : find(name);
    types.push_back(value ? std::optional(value->type) : std::nullopt);
    shapes.push_back(value ? value->shape : Shape());
    arguments.push_back(value ? *value : ImportedValue());
    arguments.back().present = value != nullptr;
  }
  std::optional<FunctionBody> body = functions.instantiate(node, version, types, shapes);
  if (!body)
    return nodeError(node, "the operator is not supported in opset " + llvm::Twine(version));
  bodyBytes += body->graph->ByteSizeLong();
  if (bodyBytes > kMaxBodyBytes)
    return nodeError(node, "the bodies of inlined functions take more than " + llvm::Twine(kMaxBodyBytes) +
                               " bytes");
  bodies.push_back(body->graph);
  llvm::StringMap<int64_t> outer = opsets;
  for (const auto &entry : body->opsets)
    opsets[entry.getKey()] = entry.second;
  auto results = importGraph(*body->graph, builder, arguments, /*seesOuterValues=*/false);
  opsets = std::move(outer);
  if (!results)
    return results.takeError();
  for (auto [name, result] : llvm::zip(node.output(), *results))
    if (!name.empty())
      define(name, result);
  return llvm::Error::success();
}

llvm::Expected<std::vector<ImportedValue>> ImportContext::importGraph(const onnx::GraphProto &graph,
                                                                      mlir::OpBuilder &builder,
                                                                      llvm::ArrayRef<ImportedValue> arguments,
                                                                      bool seesOuterValues) {
  auto error = [&](const llvm::Twine &message) {
    return llvm::createStringError("graph '" + graph.name() + "': " + message);
  };
  if (scopes.size() > kMaxNesting)
    return error("graphs or functions are nested too deeply");
  if (arguments.size() > static_cast<size_t>(graph.input_size()))
    return error(llvm::Twine(graph.input_size()) + " inputs, " + llvm::Twine(arguments.size()) + " given");
  scopes.push_back(std::make_unique<Scope>());
  scopes.back()->seesOuterValues = seesOuterValues;
  auto leave = llvm::make_scope_exit([&] {
    for (const auto &entry : scopes.back()->ideas)
      ++finishedIdeas[entry.second.str()];
    scopes.pop_back();
  });
  countUses(graph);
  for (const onnx::TensorProto &tensor : graph.initializer()) {
    llvm::Expected<ConstantTensor> constant = toConstant(tensor, external);
    if (!constant)
      return constant.takeError();
    if (scopes.back()->values.count(tensor.name()))
      return error("two initialisers are named '" + tensor.name() + "'");
    define(tensor.name(), ImportedValue::known(*constant));
  }
  for (auto [input, argument] : llvm::zip(graph.input(), arguments))
    if (argument.present)
      define(input.name(), argument);
  if (llvm::Error failure = importNodes(graph, builder))
    return failure;
  std::vector<ImportedValue> results;
  for (const onnx::ValueInfoProto &output : graph.output()) {
    ImportedValue *value = find(output.name());
    results.push_back(value ? *value : ImportedValue());
    results.back().present = value != nullptr;
  }
  return results;
}

/// Results that are an operand, perhaps in another shape, take nothing.
bool ImportContext::takeConstantBytes(const NodeContext &node, const ConstantTensor &result) {
  for (size_t i = 0; i < node.inputCount(); ++i)
    if (const ConstantTensor *operand = node.constant(i))
      if (operand->rawData().data() == result.rawData().data() && operand->byteCount() >= result.byteCount())
        return true;
  return budget.takeConstantBytes(result.byteCount());
}

llvm::Error ImportContext::defineResults(NodeContext &node) {
  if (std::string text = budget.exceeded(); !text.empty())
    return nodeError(node.proto(), text);
  for (size_t i = 0; i < node.results.size(); ++i) {
    if (node.results[i] && node.results[i]->constant && !takeConstantBytes(node, *node.results[i]->constant))
      return nodeError(node.proto(),
                       "output " + llvm::Twine(i) + " of shape " + shapeText(node.results[i]->shape) +
                           " is known at import, and too large for what the model's file holds");
    const std::string &name = node.proto().output(i);
    if (name.empty())
      continue;
    if (node.results[i])
      define(name, *node.results[i]);
    else if (node.isOutputUsed(i))
      return nodeError(node.proto(), "output " + llvm::Twine(i) + " ('" + name + "') is not supported");
  }
  for (const std::string &name : node.absorbedOutputs)
    define(name, *node.results[0]);
  return llvm::Error::success();
}

} // namespace autotune
