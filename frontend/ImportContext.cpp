// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks the nodes of a graph: builds run-time ops, evaluates what is known.
#include "frontend/ImportContext.h"

#include "frontend/ConstantEvaluator.h"
#include "frontend/OnnxProto.h"
#include "frontend/OperatorTable.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

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

ImportContext::ImportContext(mlir::MLIRContext &context, mlir::func::FuncOp function,
                             llvm::StringMap<int64_t> opsets)
    : function(function), opsets(std::move(opsets)) {}

std::optional<int64_t> ImportContext::opsetVersion(llvm::StringRef domain) const {
  auto it = opsets.find(domain == "ai.onnx" ? "" : domain);
  if (it == opsets.end())
    return std::nullopt;
  return it->second;
}

ImportedValue *ImportContext::find(llvm::StringRef name) {
  auto it = values.find(name);
  return it == values.end() ? nullptr : &it->second;
}

void ImportContext::define(llvm::StringRef name, ImportedValue value) {
  value.name = name.str();
  values[name] = std::move(value);
}

void ImportContext::addReader(llvm::StringRef name, const onnx::NodeProto *node) {
  Readers &entry = readers[name];
  ++entry.count;
  entry.node = node;
}

void ImportContext::countUses(const onnx::GraphProto &graph) {
  for (const onnx::NodeProto &node : graph.node()) {
    for (const std::string &name : node.input())
      addReader(name, &node);
    for (const onnx::AttributeProto &attribute : node.attribute())
      if (attribute.has_g())
        countUses(attribute.g());
  }
  for (const onnx::ValueInfoProto &output : graph.output())
    addReader(output.name(), nullptr);
}

const onnx::NodeProto *ImportContext::soleReader(llvm::StringRef name) const {
  auto it = readers.find(name);
  return it != readers.end() && it->second.count == 1 ? it->second.node : nullptr;
}

mlir::Value ImportContext::valueOf(ImportedValue &value) {
  if (!value.value)
    value.value = constantOp(*value.constant, value.name);
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
  return llvm::createStringError(llvm::inconvertibleErrorCode(), "node '%s' (%s): %s", nodeLabel(node).c_str(),
                                 node.op_type().c_str(), message.str().c_str());
}

/// Everything that can be wrong with a node before its builder looks at it.
llvm::Error checkOperands(ImportContext &import, const onnx::NodeProto &node, const OperatorEntry &entry) {
  unsigned count = node.input_size();
  if (count < entry.minInputs || count > entry.maxInputs)
    return nodeError(node, llvm::Twine(count) + " inputs, expected " + llvm::Twine(entry.minInputs) +
                               (entry.maxInputs == entry.minInputs ? llvm::Twine()
                                : entry.maxInputs == kAnyInputs    ? llvm::Twine(" or more")
                                                                   : " to " + llvm::Twine(entry.maxInputs)));
  if (node.output_size() == 0)
    return nodeError(node, "has no output");
  for (unsigned i = 0; i < count; ++i) {
    if (node.input(i).empty() && i < entry.minInputs)
      return nodeError(node, "input " + llvm::Twine(i) + " is missing");
    if (!node.input(i).empty() && !import.find(node.input(i)))
      return nodeError(node, "reads '" + llvm::Twine(node.input(i)) + "', which nothing before it defines");
  }
  for (const std::string &output : node.output())
    if (!output.empty() && import.find(output))
      return nodeError(node, "defines '" + llvm::Twine(output) + "', which is defined already");
  return llvm::Error::success();
}

} // namespace

llvm::Error ImportContext::importNodes(const onnx::GraphProto &graph, mlir::OpBuilder &builder) {
  // Constants first: exporters put them right before their reader, and folding looks ahead.
  auto isConstant = [](const onnx::NodeProto &node) { return node.op_type() == "Constant" && node.domain().empty(); };
  for (const onnx::NodeProto &node : graph.node())
    if (isConstant(node))
      if (llvm::Error error = importNode(node, builder))
        return error;
  for (const onnx::NodeProto &node : graph.node())
    if (!isConstant(node) && !isAbsorbed(node))
      if (llvm::Error error = importNode(node, builder))
        return error;
  return llvm::Error::success();
}

llvm::Error ImportContext::importNode(const onnx::NodeProto &node, mlir::OpBuilder &builder) {
  int64_t version = *opsetVersion(node.domain());
  const OperatorEntry &entry = *findOperator(node.domain(), node.op_type(), version);
  if (llvm::Error error = checkOperands(*this, node, entry))
    return error;
  bool known = node.input_size() > 0 && llvm::all_of(node.input(), [&](const std::string &name) {
                 return name.empty() || find(name)->constant;
               });
  if (known) {
    mlir::Block scratch;
    mlir::OpBuilder scratchBuilder(context());
    scratchBuilder.setInsertionPointToEnd(&scratch);
    NodeContext context(*this, node, version, scratchBuilder, &scratch);
    mlir::LogicalResult built = entry.build(context);
    if (failed(built) || context.failedAlready())
      return nodeError(node, context.errorMessage());
    if (evaluateResults(context, scratch))
      return defineResults(context);
  }
  NodeContext context(*this, node, version, builder);
  mlir::LogicalResult built = entry.build(context);
  if (failed(built) || context.failedAlready())
    return nodeError(node, context.errorMessage());
  return defineResults(context);
}

llvm::Error ImportContext::defineResults(NodeContext &node) {
  for (size_t i = 0; i < node.results.size(); ++i) {
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
