// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small files that ask for much: each is refused with one clear line, soon and without the memory it asks
// for.
#include "test/unit/frontend/TestModel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>

using autotune::test::imported;
using autotune::test::TestModel;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

/// Checks after each test that the process never took much.
class ImportLimits : public testing::Test {
protected:
  void TearDown() override {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    EXPECT_LT(usage.ru_maxrss >> 10, 1500) << "MB";
  }
};

/// A graph attribute of the last node.
onnx::GraphProto &graphAttribute(onnx::GraphProto &graph, const char *name) {
  auto *attribute = graph.mutable_node(graph.node_size() - 1)->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::GRAPH);
  attribute->mutable_g()->set_name(name);
  return *attribute->mutable_g();
}

onnx::NodeProto &addNode(onnx::GraphProto &graph, const char *op, const std::vector<std::string> &inputs,
                         const std::string &output) {
  auto &node = *graph.add_node();
  node.set_op_type(op);
  for (const std::string &input : inputs)
    node.add_input(input);
  node.add_output(output);
  return node;
}

TEST_F(ImportLimits, ValuesOfTheWholeModelTogether) {
  TestModel model;
  model.input("x", {1}).ints("shape", {1}, {int64_t(1) << 31});
  for (int i = 0; i < 10; ++i)
    model.node("Expand", {"x", "shape"}, {"y" + std::to_string(i)}).output("y" + std::to_string(i));
  EXPECT_THAT(imported(model), HasSubstr("the values computed so far need"));
}

TEST_F(ImportLimits, TensorsThatTheModelComputesFromNothing) {
  const int64_t large = int64_t(1) << 32;
  TestModel ones;
  ones.input("x", {1}).ints("shape", {1}, {large}).node("ConstantOfShape", {"shape"}, {"y"}).output("y");
  EXPECT_THAT(imported(ones), HasSubstr("too large for what the model's file holds"));
  TestModel range;
  range.ints("a", {}, {0}).ints("b", {}, {1 << 27}).ints("c", {}, {1}).node("Range", {"a", "b", "c"}, {"y"});
  range.output("y");
  EXPECT_THAT(imported(range), HasSubstr("too many for what the model's file holds"));
  TestModel eye;
  eye.input("x", {60000, 60000}).node("EyeLike", {"x"}, {"y"}).output("y");
  EXPECT_THAT(imported(eye), HasSubstr("too many for what the model's file holds"));
}

TEST_F(ImportLimits, LoopsInLoops) {
  TestModel model;
  model.input("x", {2}).ints("trips", {}, {4000}).node("Loop", {"trips", "", "x"}, {"y"}).output("y");
  onnx::GraphProto *graph = model.model.mutable_graph();
  for (int depth = 0; depth < 2; ++depth) {
    std::string suffix = std::to_string(depth);
    onnx::GraphProto &body = graphAttribute(*graph, "body");
    for (const char *input : {"i", "go", "v"})
      body.add_input()->set_name(input + suffix);
    addNode(body, "Identity", {"go" + suffix}, "again" + suffix);
    body.add_output()->set_name("again" + suffix);
    body.add_output()->set_name("w" + suffix);
    if (depth == 0)
      addNode(body, "Loop", {"trips", "", "v0"}, "w0");
    else
      addNode(body, "Exp", {"v1"}, "w1");
    graph = &body;
  }
  model.model.set_ir_version(9);
  EXPECT_THAT(imported(model), HasSubstr("the model has too many"));
}

/// `count` functions, each of which calls the next one `calls` times.
TestModel functionChain(int count, int calls) {
  TestModel model(15);
  auto *domain = model.model.add_opset_import();
  domain->set_domain("custom");
  domain->set_version(1);
  for (int i = 0; i < count; ++i) {
    auto *function = model.model.add_functions();
    function->set_name("f" + std::to_string(i));
    function->set_domain("custom");
    function->add_input("v0");
    function->add_output("v" + std::to_string(calls));
    for (const char *name : {"", "custom"}) {
      auto *import = function->add_opset_import();
      import->set_domain(name);
      import->set_version(*name ? 1 : 15);
    }
    for (int call = 0; call < calls; ++call) {
      auto *node = function->add_node();
      bool last = i + 1 == count;
      node->set_op_type(last ? "Exp" : "f" + std::to_string(i + 1));
      node->set_domain(last ? "" : "custom");
      node->add_input("v" + std::to_string(call));
      node->add_output("v" + std::to_string(call + 1));
    }
  }
  model.input("x", {2}).node("f0", {"x"}, {"y"}).output("y");
  model.model.mutable_graph()->mutable_node(0)->set_domain("custom");
  model.model.set_ir_version(9);
  return model;
}

TEST_F(ImportLimits, FunctionsThatCallFunctions) {
  EXPECT_THAT(imported(functionChain(40, 2)), HasSubstr("the model has too many nodes after unrolling"));
  EXPECT_THAT(imported(functionChain(5000, 1)), HasSubstr("nested too deeply"));
}

TEST_F(ImportLimits, NestedGraphs) {
  TestModel model;
  model.input("x", {2}).input("c", {}, onnx::TensorProto::BOOL).node("If", {"c"}, {"y"}).output("y");
  onnx::GraphProto *graph = model.model.mutable_graph();
  for (int depth = 0; depth < 200; ++depth) {
    onnx::GraphProto &branch = graphAttribute(*graph, "then_branch");
    addNode(branch, "If", {"c"}, "y");
    branch.add_output()->set_name("y");
    graph = &branch;
  }
  EXPECT_THAT(imported(model), StartsWith("error"));
}

TEST_F(ImportLimits, DimensionsOfOneTensor) {
  TestModel initializer;
  initializer.floats("w", std::vector<int64_t>(100000, 1), {1}).node("Relu", {"w"}, {"y"}).output("y");
  EXPECT_THAT(imported(initializer), HasSubstr("tensor 'w' has 100000 dimensions, supported are 64"));
  TestModel unsqueezed;
  std::vector<int64_t> axes(60);
  std::iota(axes.begin(), axes.end(), 0);
  unsqueezed.input("x", {1, 1, 1, 1, 1, 1}).ints("axes", {60}, axes).node("Unsqueeze", {"x", "axes"}, {"y"}).output("y");
  EXPECT_THAT(imported(unsqueezed), HasSubstr("the result has 66 dimensions, supported are 64"));
}

TEST_F(ImportLimits, StepsOfRecurrencesThatAreWrittenOut) {
  auto lstm = [](int type) {
    TestModel model(14);
    model.input("x", {int64_t(1) << 20, 1, 1}, type).input("w", {1, 4, 1}, type).input("r", {1, 4, 1}, type);
    model.node("LSTM", {"x", "w", "r"}, {"y"}).attribute("hidden_size", int64_t(1)).output("y");
    return model;
  };
  EXPECT_THAT(imported(lstm(onnx::TensorProto::DOUBLE)),
              AllOf(StartsWith("error"), HasSubstr("LSTM_node"), HasSubstr("1048576 steps")));
  EXPECT_THAT(imported(lstm(onnx::TensorProto::FLOAT)), HasSubstr("autotune.recurrence lstm"));
}

} // namespace
