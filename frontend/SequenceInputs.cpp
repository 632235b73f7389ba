// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rewrites the inputs of a parsed model.
#include "frontend/SequenceInputs.h"

#include "frontend/OnnxProto.h"

namespace autotune {

namespace {

class Expansion {
public:
  Expansion(onnx::GraphProto &graph, const ImportOptions &options) : graph(graph), options(options) {}

  void run() {
    google::protobuf::RepeatedPtrField<onnx::ValueInfoProto> old;
    old.Swap(graph.mutable_input());
    for (onnx::ValueInfoProto &input : old)
      expand(input);
  }

private:
  bool isGiven(const std::string &name) const {
    return options.inputShapes.contains(name) || options.inputValues.contains(name);
  }

  void expand(onnx::ValueInfoProto &input) {
    const onnx::TypeProto &type = input.type();
    if (type.has_sequence_type())
      return addElements(input.name(), type.sequence_type().elem_type());
    if (!type.has_optional_type()) {
      *graph.add_input() = std::move(input);
      return;
    }
    const onnx::TypeProto &inner = type.optional_type().elem_type();
    if (inner.has_sequence_type() && isGiven(input.name() + "[0]"))
      addElements(input.name(), inner.sequence_type().elem_type());
    else if (!inner.has_sequence_type() && isGiven(input.name()))
      addInput(input.name(), inner);
    else
      addFirst("Optional", input.name());
  }

  void addInput(const std::string &name, const onnx::TypeProto &type) {
    onnx::ValueInfoProto &input = *graph.add_input();
    input.set_name(name);
    *input.mutable_type() = type;
  }

  void addElements(const std::string &name, const onnx::TypeProto &type) {
    std::vector<std::string> names;
    for (auto next = [&] { return name + "[" + std::to_string(names.size()) + "]"; }; isGiven(next());)
      names.push_back(next());
    onnx::NodeProto &node = addFirst(names.empty() ? "SequenceEmpty" : "SequenceConstruct", name);
    // Names of dimensions mean nothing here: the elements may differ in size.
    onnx::TypeProto own = type;
    if (own.tensor_type().has_shape())
      for (auto &dim : *own.mutable_tensor_type()->mutable_shape()->mutable_dim())
        dim.clear_dim_param();
    for (const std::string &element : names) {
      addInput(element, own);
      node.add_input(element);
    }
  }

  onnx::NodeProto &addFirst(const std::string &op, const std::string &output) {
    onnx::NodeProto *node = graph.add_node();
    node->set_op_type(op);
    node->set_name(output);
    node->add_output(output);
    for (int i = graph.node_size() - 1; i > 0; --i)
      graph.mutable_node()->SwapElements(i, i - 1);
    return *graph.mutable_node(0);
  }

  onnx::GraphProto &graph;
  const ImportOptions &options;
};

} // namespace

void expandSequenceInputs(onnx::ModelProto &model, const ImportOptions &options) {
  Expansion(*model.mutable_graph(), options).run();
}

} // namespace autotune
