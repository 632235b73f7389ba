// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small ONNX models made in a test, written to a temporary file and imported.
#pragma once

#include "frontend/OnnxProto.h"

#include "llvm/Support/Error.h"

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

namespace autotune::test {

/// A dimension: a number, or a name.
struct Dim {
  Dim(int64_t value) : value(value) {}
  Dim(const char *name) : name(name) {}
  int64_t value = -1;
  std::string name;
};

class TestModel {
public:
  explicit TestModel(int64_t opset = 13);

  TestModel &input(const std::string &name, const std::vector<Dim> &dims, int type = onnx::TensorProto::FLOAT);
  TestModel &output(const std::string &name);
  TestModel &floats(const std::string &name, const std::vector<int64_t> &dims, const std::vector<float> &values);
  TestModel &ints(const std::string &name, const std::vector<int64_t> &dims, const std::vector<int64_t> &values);
  /// Starts a node named `<op>_node`; the attributes that follow are its own.
  TestModel &node(const std::string &op, const std::vector<std::string> &inputs,
                  const std::vector<std::string> &outputs);
  TestModel &attribute(const std::string &name, int64_t value);
  TestModel &integers(const std::string &name, const std::vector<int64_t> &values);
  TestModel &attribute(const std::string &name, float value);
  TestModel &attribute(const std::string &name, const std::string &value);

  std::string serialized() const { return model.SerializeAsString(); }
  onnx::ModelProto model;

private:
  onnx::AttributeProto &newAttribute(const std::string &name, onnx::AttributeProto::AttributeType type);
};

using Shapes = std::map<std::string, std::vector<int64_t>>;

/// A file in the test's temporary folder.
std::string writeTemporary(const std::string &name, const std::string &bytes);

/// The printed module.
llvm::Expected<std::string> importText(const std::string &path, const Shapes &shapes = {});
/// The printed module, or "error: …" without the path.
std::string imported(const TestModel &model, const Shapes &shapes = {});
/// How often `part` occurs in `text`.
size_t occurrences(const std::string &text, const std::string &part);

} // namespace autotune::test
