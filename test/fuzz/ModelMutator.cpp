// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One small function for each kind of change.
#include "test/fuzz/ModelMutator.h"

#include "frontend/ElementType.h"
#include "frontend/OnnxProto.h"
#include "frontend/OperatorTable.h"

#include "llvm/ADT/STLExtras.h"

#include <random>
#include <vector>

namespace autotune::test {

namespace {

class Mutator {
public:
  Mutator(onnx::ModelProto &model, unsigned seed) : model(model), random(seed) {}

  void mutate() {
    for (size_t changes = 1 + below(3); changes > 0; --changes) {
      onnx::GraphProto &graph = anyGraph(*model.mutable_graph());
      switch (below(10)) {
      case 0:
      case 1:
      case 2:
        changeNode(graph);
        break;
      case 3:
        changeNodeList(graph);
        break;
      case 4:
        changeVersions();
        break;
      case 5:
        changeInput(graph);
        break;
      case 6:
      case 7:
        changeInitializer(graph);
        break;
      case 8:
        changeOutput(graph);
        break;
      default:
        changeAttribute(graph);
      }
    }
  }

private:
  size_t below(size_t count) { return count ? random() % count : 0; }
  bool chance(size_t one) { return below(one) == 0; }
  template <typename List> auto *any(List *list) {
    return list->empty() ? nullptr : list->Mutable(static_cast<int>(below(list->size())));
  }

  onnx::GraphProto &anyGraph(onnx::GraphProto &graph) {
    for (onnx::NodeProto &node : *graph.mutable_node())
      for (onnx::AttributeProto &attribute : *node.mutable_attribute())
        if (attribute.has_g() && chance(2))
          return anyGraph(*attribute.mutable_g());
    return graph;
  }

  int64_t number() {
    static constexpr int64_t kNumbers[] = {-1,
                                           0,
                                           1,
                                           2,
                                           3,
                                           4,
                                           5,
                                           7,
                                           8,
                                           16,
                                           100,
                                           -2,
                                           -3,
                                           255,
                                           1024,
                                           65536,
                                           1 << 20,
                                           INT32_MAX,
                                           INT32_MIN,
                                           int64_t(1) << 33,
                                           int64_t(1) << 62,
                                           INT64_MAX,
                                           INT64_MIN};
    // Mostly small ones: large ones stop at the first check.
    return kNumbers[below(chance(3) ? std::size(kNumbers) : 8)];
  }

  int type() {
    static constexpr int kTypes[] = {1, 1, 1, 7, 7, 6, 9, 2, 3, 10, 11, 16, 5, 4, 12, 13, 8, 14, 17, 22, 0};
    return kTypes[below(std::size(kTypes))];
  }

  std::string anyName(const onnx::GraphProto &graph) {
    std::vector<const std::string *> names;
    for (const auto &input : model.graph().input())
      names.push_back(&input.name());
    for (const onnx::GraphProto *scope : {&model.graph(), &graph}) {
      for (const auto &initializer : scope->initializer())
        names.push_back(&initializer.name());
      for (const auto &node : scope->node())
        for (const std::string &output : node.output())
          names.push_back(&output);
    }
    return names.empty() || chance(20) ? std::string() : *names[below(names.size())];
  }

  void changeNode(onnx::GraphProto &graph) {
    onnx::NodeProto *node = any(graph.mutable_node());
    if (!node)
      return;
    switch (below(6)) {
    case 0:
    case 1: {
      llvm::ArrayRef<OperatorEntry> table = allOperators();
      const OperatorEntry &entry = table[below(table.size())];
      node->set_op_type(entry.name.str());
      node->set_domain(entry.domain.str());
      break;
    }
    case 2:
      if (!node->input().empty())
        *any(node->mutable_input()) = anyName(graph);
      break;
    case 3:
      *node->add_input() = anyName(graph);
      break;
    case 4:
      if (!node->input().empty())
        node->mutable_input()->RemoveLast();
      break;
    default:
      *node->add_output() = "out" + std::to_string(below(1000));
    }
  }

  void changeNodeList(onnx::GraphProto &graph) {
    onnx::NodeProto *node = any(graph.mutable_node());
    if (!node)
      return;
    switch (below(4)) {
    case 0: {
      onnx::NodeProto copy = *node;
      for (std::string &output : *copy.mutable_output())
        output += "_" + std::to_string(below(1000));
      *graph.add_node() = copy;
      break;
    }
    case 1:
      graph.mutable_node()->SwapElements(below(graph.node_size()), below(graph.node_size()));
      break;
    case 2:
      graph.mutable_node()->DeleteSubrange(static_cast<int>(below(graph.node_size())), 1);
      break;
    default:
      node->clear_attribute();
    }
  }

  void changeVersions() {
    if (chance(4))
      return model.set_ir_version(below(12));
    if (model.opset_import_size() == 0 || chance(8))
      model.add_opset_import()->set_domain(chance(2) ? "com.microsoft" : "");
    any(model.mutable_opset_import())->set_version(below(24));
  }

  void changeInput(onnx::GraphProto &graph) {
    onnx::ValueInfoProto *input = any(graph.mutable_input());
    if (!input)
      return;
    auto *tensor = input->mutable_type()->mutable_tensor_type();
    if (chance(3))
      return tensor->set_elem_type(type());
    auto *dims = tensor->mutable_shape()->mutable_dim();
    if (dims->empty() || chance(4))
      dims->Add()->set_dim_value(number());
    else if (chance(4))
      dims->RemoveLast();
    else if (chance(10))
      any(dims)->set_dim_param("n");
    else
      any(dims)->set_dim_value(number());
  }

  /// Gives the tensor as many elements as its shape needs, as long as that is little.
  void fill(onnx::TensorProto &tensor) {
    int64_t count = 1;
    for (int64_t dim : tensor.dims())
      count = dim < 0 || dim > 4096 || count > 4096 ? 4097 : count * dim;
    std::optional<ElementType> element = elementTypeFromOnnx(tensor.data_type());
    if (!element || count > 4096)
      return;
    std::string *raw = tensor.mutable_raw_data();
    raw->resize(count * byteSize(*element));
    for (char &byte : *raw)
      if (chance(4))
        byte = static_cast<char>(below(chance(4) ? 256 : 4));
    tensor.clear_int64_data();
    tensor.clear_int32_data();
    tensor.clear_float_data();
  }

  void changeTensor(onnx::TensorProto &tensor) {
    switch (below(5)) {
    case 0:
      tensor.set_data_type(type());
      break;
    case 1:
      tensor.add_dims(number());
      break;
    case 2:
      if (tensor.dims_size())
        tensor.set_dims(static_cast<int>(below(tensor.dims_size())), number());
      break;
    case 3: {
      // A list of integers, as shapes, axes and repeats are.
      tensor.Clear();
      tensor.set_data_type(onnx::TensorProto::INT64);
      for (size_t left = below(5); left > 0; --left)
        tensor.add_int64_data(number());
      tensor.add_dims(tensor.int64_data_size());
      return;
    }
    default:
      if (tensor.dims_size())
        tensor.mutable_dims()->RemoveLast();
    }
    fill(tensor);
  }

  void changeInitializer(onnx::GraphProto &graph) {
    if (graph.initializer_size() == 0 || chance(10)) {
      // A run-time value becomes known.
      std::string name = graph.input_size() ? any(graph.mutable_input())->name() : "extra";
      graph.add_initializer()->set_name(name);
    }
    onnx::TensorProto &tensor = *any(graph.mutable_initializer());
    std::string name = tensor.name();
    changeTensor(tensor);
    tensor.set_name(name);
  }

  void changeOutput(onnx::GraphProto &graph) {
    if (graph.output_size() == 0 || chance(4))
      graph.add_output()->mutable_type()->mutable_tensor_type()->set_elem_type(1);
    any(graph.mutable_output())->set_name(anyName(graph));
  }

  void changeAttribute(onnx::GraphProto &graph) {
    static constexpr const char *kNames[] = {
        "axis",      "axes",       "perm",         "kernel_shape",   "strides",         "pads",
        "dilations", "group",      "auto_pad",     "ceil_mode",      "keepdims",        "to",
        "mode",      "equation",   "hidden_size",  "direction",      "num_scan_inputs", "k",
        "split",     "blocksize",  "output_shape", "output_padding", "num_groups",      "num_outputs",
        "num_heads", "value_ints", "transA",       "transB",         "batch_dims",      "block_size",
        "sections",  "largest",    "epsilon",      "alpha",          "activations",     "scan_output_axes"};
    onnx::NodeProto *node = any(graph.mutable_node());
    if (!node)
      return;
    if (node->attribute_size() == 0 || chance(4))
      node->add_attribute()->set_name(kNames[below(std::size(kNames))]);
    onnx::AttributeProto &attribute = *any(node->mutable_attribute());
    if (attribute.type() == onnx::AttributeProto::UNDEFINED)
      attribute.set_type(chance(2) ? onnx::AttributeProto::INT : onnx::AttributeProto::INTS);
    if (attribute.type() == onnx::AttributeProto::TENSOR)
      changeTensor(*attribute.mutable_t());
    else if (attribute.type() == onnx::AttributeProto::INTS && attribute.ints_size() && !chance(3))
      attribute.set_ints(static_cast<int>(below(attribute.ints_size())), number());
    else if (attribute.type() == onnx::AttributeProto::INTS)
      attribute.add_ints(number());
    else if (attribute.type() == onnx::AttributeProto::FLOAT)
      attribute.set_f(static_cast<float>(number()));
    else
      attribute.set_i(number());
  }

  onnx::ModelProto &model;
  std::minstd_rand random;
};

} // namespace

bool mutateModel(std::string &bytes, unsigned seed) {
  onnx::ModelProto model;
  if (!model.ParseFromString(bytes) || !model.has_graph())
    return false;
  Mutator(model, seed).mutate();
  bytes = model.SerializeAsString();
  return true;
}

} // namespace autotune::test
