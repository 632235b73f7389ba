// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small ONNX models made in a test.
#include "test/unit/frontend/TestModel.h"

#include "frontend/Import.h"

#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

#include <unistd.h>

namespace autotune::test {

TestModel::TestModel(int64_t opset) {
  model.set_ir_version(8);
  model.mutable_graph()->set_name("test");
  model.add_opset_import()->set_version(opset);
}

TestModel &TestModel::input(const std::string &name, const std::vector<Dim> &dims, int type) {
  auto *input = model.mutable_graph()->add_input();
  input->set_name(name);
  auto *tensor = input->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  tensor->mutable_shape();
  for (const Dim &dim : dims) {
    auto *entry = tensor->mutable_shape()->add_dim();
    if (dim.name.empty())
      entry->set_dim_value(dim.value);
    else
      entry->set_dim_param(dim.name);
  }
  return *this;
}

TestModel &TestModel::output(const std::string &name) {
  auto *output = model.mutable_graph()->add_output();
  output->set_name(name);
  output->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
  return *this;
}

TestModel &TestModel::floats(const std::string &name, const std::vector<int64_t> &dims,
                             const std::vector<float> &values) {
  auto *tensor = model.mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(onnx::TensorProto::FLOAT);
  for (int64_t dim : dims)
    tensor->add_dims(dim);
  tensor->set_raw_data(values.data(), values.size() * sizeof(float));
  return *this;
}

TestModel &TestModel::ints(const std::string &name, const std::vector<int64_t> &dims,
                           const std::vector<int64_t> &values) {
  auto *tensor = model.mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(onnx::TensorProto::INT64);
  for (int64_t dim : dims)
    tensor->add_dims(dim);
  for (int64_t value : values)
    tensor->add_int64_data(value);
  return *this;
}

TestModel &TestModel::node(const std::string &op, const std::vector<std::string> &inputs,
                           const std::vector<std::string> &outputs) {
  auto *node = model.mutable_graph()->add_node();
  node->set_op_type(op);
  node->set_name(op + "_node");
  for (const std::string &input : inputs)
    node->add_input(input);
  for (const std::string &output : outputs)
    node->add_output(output);
  return *this;
}

onnx::AttributeProto &TestModel::newAttribute(const std::string &name, onnx::AttributeProto::AttributeType type) {
  auto *graph = model.mutable_graph();
  auto *attribute = graph->mutable_node(graph->node_size() - 1)->add_attribute();
  attribute->set_name(name);
  attribute->set_type(type);
  return *attribute;
}

TestModel &TestModel::attribute(const std::string &name, int64_t value) {
  newAttribute(name, onnx::AttributeProto::INT).set_i(value);
  return *this;
}

TestModel &TestModel::integers(const std::string &name, const std::vector<int64_t> &values) {
  auto &attribute = newAttribute(name, onnx::AttributeProto::INTS);
  for (int64_t value : values)
    attribute.add_ints(value);
  return *this;
}

TestModel &TestModel::attribute(const std::string &name, float value) {
  newAttribute(name, onnx::AttributeProto::FLOAT).set_f(value);
  return *this;
}

TestModel &TestModel::attribute(const std::string &name, const std::string &value) {
  newAttribute(name, onnx::AttributeProto::STRING).set_s(value);
  return *this;
}

std::string writeTemporary(const std::string &name, const std::string &bytes) {
  // Tests run side by side in processes of their own.
  std::string path = testing::TempDir() + "/" + std::to_string(getpid()) + "_" + name;
  std::error_code code;
  llvm::raw_fd_ostream stream(path, code);
  stream << bytes;
  return path;
}

llvm::Expected<std::string> importText(const std::string &path, const Shapes &shapes) {
  ImportOptions options;
  for (const auto &[name, shape] : shapes)
    options.inputShapes[name] = shape;
  mlir::DialectRegistry registry;
  registerFrontendDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = importModel(context, path, options);
  if (!module)
    return module.takeError();
  std::string text;
  llvm::raw_string_ostream stream(text);
  (*module)->print(stream, mlir::OpPrintingFlags().enableDebugInfo(true, false).useLocalScope());
  return text;
}

std::string imported(const TestModel &model, const Shapes &shapes) {
  std::string path = writeTemporary("model.onnx", model.serialized());
  llvm::Expected<std::string> text = importText(path, shapes);
  unlink(path.c_str());
  if (text)
    return *text;
  std::string message = llvm::toString(text.takeError());
  size_t at = message.find(path);
  return "error" + (at == std::string::npos ? ": " + message : message.substr(at + path.size()));
}

size_t occurrences(const std::string &text, const std::string &part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size()))
    ++count;
  return count;
}

} // namespace autotune::test
