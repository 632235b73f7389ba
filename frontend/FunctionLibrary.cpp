// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Turns functions into graphs. libonnx's schemas give the bodies of ONNX's own.
#include "frontend/FunctionLibrary.h"

#include "frontend/OnnxProto.h"

#include "llvm/ADT/STLExtras.h"

#include <onnx/defs/schema.h>

namespace autotune {

namespace {

std::string keyOf(llvm::StringRef domain, llvm::StringRef name) {
  return (domain == "ai.onnx" ? "" : domain.str()) + ":" + name.str();
}

// The newest opset that Debian's libonnx 1.12 has schemas for.
constexpr int kSchemaOpset = 17;

const onnx::OpSchema *functionSchema(llvm::StringRef domain, llvm::StringRef name, int64_t version) {
  if (!domain.empty() && domain != "ai.onnx")
    return nullptr;
  int known = static_cast<int>(std::min<int64_t>(version, kSchemaOpset));
  const onnx::OpSchema *schema = onnx::OpSchemaRegistry::Schema(name.str(), known, "");
  bool hasBody = schema && (schema->HasFunction() || schema->HasContextDependentFunction());
  return hasBody ? schema : nullptr;
}

/// Replaces references to attributes of the function by the attributes of the node; those it lacks disappear.
void bindAttributes(onnx::NodeProto &inner, const onnx::NodeProto &outer) {
  for (int i = inner.attribute_size() - 1; i >= 0; --i) {
    onnx::AttributeProto &attribute = *inner.mutable_attribute(i);
    if (attribute.has_g())
      for (onnx::NodeProto &nested : *attribute.mutable_g()->mutable_node())
        bindAttributes(nested, outer);
    if (attribute.ref_attr_name().empty())
      continue;
    std::string name = attribute.name();
    const onnx::AttributeProto *given = nullptr;
    for (const onnx::AttributeProto &candidate : outer.attribute())
      if (candidate.name() == attribute.ref_attr_name())
        given = &candidate;
    if (given) {
      attribute = *given;
      attribute.set_name(name);
    } else {
      inner.mutable_attribute()->DeleteSubrange(i, 1);
    }
  }
}

/// The node with the defaults of its schema spelled out.
onnx::NodeProto withDefaults(const onnx::NodeProto &node, const onnx::OpSchema &schema) {
  onnx::NodeProto result = node;
  for (const auto &[name, attribute] : schema.attributes()) {
    bool given = llvm::any_of(node.attribute(), [&, key = name](const auto &a) { return a.name() == key; });
    if (!given && !attribute.default_value.name().empty())
      *result.add_attribute() = attribute.default_value;
  }
  return result;
}

FunctionBody toBody(const onnx::FunctionProto &function, const onnx::NodeProto &node) {
  auto graph = std::make_shared<onnx::GraphProto>();
  for (const std::string &name : function.input())
    graph->add_input()->set_name(name);
  for (const std::string &name : function.output())
    graph->add_output()->set_name(name);
  for (const onnx::NodeProto &inner : function.node()) {
    onnx::NodeProto &copy = *graph->add_node();
    copy = inner;
    bindAttributes(copy, node);
    // The caller's name is what a user knows.
    copy.set_name(node.name().empty() ? node.op_type() + "_" + node.output(0) : node.name());
  }
  FunctionBody body;
  for (const auto &opset : function.opset_import())
    body.opsets[opset.domain() == "ai.onnx" ? "" : opset.domain()] = opset.version();
  body.graph = std::move(graph);
  return body;
}

} // namespace

FunctionLibrary::FunctionLibrary(const onnx::ModelProto &model) {
  for (const onnx::FunctionProto &function : model.functions())
    functions[keyOf(function.domain(), function.name())] = &function;
}

const onnx::FunctionProto *FunctionLibrary::ofModel(llvm::StringRef domain, llvm::StringRef name) const {
  return functions.lookup(keyOf(domain, name));
}

bool FunctionLibrary::contains(llvm::StringRef domain, llvm::StringRef name, int64_t version) const {
  return ofModel(domain, name) || functionSchema(domain, name, version);
}

std::optional<FunctionBody> FunctionLibrary::instantiate(const onnx::NodeProto &node, int64_t version,
                                                         llvm::ArrayRef<std::optional<ElementType>> inputTypes,
                                                         llvm::ArrayRef<llvm::SmallVector<int64_t, 6>> inputShapes) const {
  if (const onnx::FunctionProto *function = ofModel(node.domain(), node.op_type()))
    return toBody(*function, node);
  const onnx::OpSchema *schema = functionSchema(node.domain(), node.op_type(), version);
  if (!schema)
    return std::nullopt;
  if (schema->HasFunction())
    return toBody(*schema->GetFunction(), withDefaults(node, *schema));
  std::vector<onnx::TypeProto> types;
  for (auto [type, shape] : llvm::zip_equal(inputTypes, inputShapes)) {
    onnx::TypeProto &entry = types.emplace_back();
    if (!type)
      continue;
    entry.mutable_tensor_type()->set_elem_type(onnxDataType(*type));
    for (int64_t dim : shape)
      entry.mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(dim);
  }
  onnx::FunctionProto function;
  onnx::FunctionBodyBuildContextImpl context(node, types);
  try {
    if (!schema->BuildContextDependentFunction(context, function))
      return std::nullopt;
  } catch (const std::exception &) {
    return std::nullopt;
  }
  return toBody(function, withDefaults(node, *schema));
}

} // namespace autotune
