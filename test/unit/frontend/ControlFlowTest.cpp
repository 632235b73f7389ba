// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conditions, loops and functions: what is known disappears, what is not stays as control flow.
#include "test/unit/frontend/TestModel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using autotune::test::imported;
using autotune::test::occurrences;
using autotune::test::TestModel;
using testing::HasSubstr;
using testing::Not;

namespace {

onnx::GraphProto &graphAttribute(TestModel &model, const std::string &name) {
  auto *graph = model.model.mutable_graph();
  auto *attribute = graph->mutable_node(graph->node_size() - 1)->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::GRAPH);
  attribute->mutable_g()->set_name(name);
  return *attribute->mutable_g();
}

void addNode(onnx::GraphProto &graph, const std::string &op, std::initializer_list<const char *> inputs,
             const std::string &output) {
  auto *node = graph.add_node();
  node->set_op_type(op);
  for (const char *input : inputs)
    node->add_input(input);
  node->add_output(output);
}

void addValue(onnx::ValueInfoProto &value, const std::string &name, int type) {
  value.set_name(name);
  value.mutable_type()->mutable_tensor_type()->set_elem_type(type);
  value.mutable_type()->mutable_tensor_type()->mutable_shape();
}

/// x is negated in one branch and made positive in the other.
void addBranches(TestModel &model, const char *elseOperator = "Abs") {
  for (const char *name : {"then_branch", "else_branch"}) {
    onnx::GraphProto &branch = graphAttribute(model, name);
    std::string result = std::string(name) + "_result";
    addNode(branch, name[0] == 't' ? "Neg" : elseOperator, {"x"}, result);
    addValue(*branch.add_output(), result, onnx::TensorProto::FLOAT);
  }
}

TEST(ControlFlow, KnownConditionKeepsOneBranch) {
  TestModel model;
  model.input("x", {2}).ints("zero", {}, {0}).node("Cast", {"zero"}, {"c"}).attribute("to", int64_t(9));
  model.node("If", {"c"}, {"y"});
  addBranches(model);
  model.output("y");
  std::string text = imported(model);
  EXPECT_THAT(text, HasSubstr("math.absf"));
  EXPECT_THAT(text, Not(HasSubstr("arith.negf")));
  EXPECT_THAT(text, Not(HasSubstr("scf.if")));
}

TEST(ControlFlow, UnknownConditionChoosesBetweenBothBranches) {
  TestModel model;
  model.input("x", {2}).input("c", {}, onnx::TensorProto::BOOL).node("If", {"c"}, {"y"});
  addBranches(model);
  model.output("y");
  std::string text = imported(model);
  EXPECT_THAT(text, HasSubstr("arith.select"));
  EXPECT_THAT(text, HasSubstr("math.absf"));
  EXPECT_THAT(text, HasSubstr("arith.negf"));
}

TEST(ControlFlow, UnknownConditionNamesTheFaultOfABranchAndAWayOut) {
  TestModel model;
  model.input("x", {2}).input("c", {}, onnx::TensorProto::BOOL).node("If", {"c"}, {"y"});
  addBranches(model, "GlobalAveragePool");
  model.output("y");
  auto text = autotune::test::importText(autotune::test::writeTemporary("if.onnx", model.serialized()));
  ASSERT_FALSE(static_cast<bool>(text));
  std::string error = llvm::toString(text.takeError());
  EXPECT_THAT(error, HasSubstr("else_branch"));
  EXPECT_THAT(error, HasSubstr("(GlobalAveragePool)"));
  EXPECT_THAT(error, HasSubstr("--input-value NAME=VALUE"));
}

TEST(ControlFlow, LoopWithKnownTripCountIsUnrolled) {
  TestModel model;
  model.input("x", {2}).ints("trips", {}, {3}).node("Loop", {"trips", "", "x"}, {"y"});
  onnx::GraphProto &body = graphAttribute(model, "body");
  addValue(*body.add_input(), "i", onnx::TensorProto::INT64);
  addValue(*body.add_input(), "go", onnx::TensorProto::BOOL);
  addValue(*body.add_input(), "v", onnx::TensorProto::FLOAT);
  addNode(body, "Identity", {"go"}, "again");
  addNode(body, "Exp", {"v"}, "w");
  addValue(*body.add_output(), "again", onnx::TensorProto::BOOL);
  addValue(*body.add_output(), "w", onnx::TensorProto::FLOAT);
  model.output("y");
  EXPECT_EQ(occurrences(imported(model), "math.exp"), 3u);
}

TEST(ControlFlow, FunctionsOfTheModelAreInlined) {
  TestModel model(15);
  model.model.mutable_graph()->set_name("main");
  auto *domain = model.model.add_opset_import();
  domain->set_domain("custom");
  domain->set_version(1);
  auto *function = model.model.add_functions();
  function->set_name("Scaled");
  function->set_domain("custom");
  function->add_input("a");
  function->add_output("b");
  function->add_attribute("factor");
  auto *opset = function->add_opset_import();
  opset->set_domain("");
  opset->set_version(15);
  auto *constant = function->add_node();
  constant->set_op_type("Constant");
  constant->add_output("f");
  auto *reference = constant->add_attribute();
  reference->set_name("value_float");
  reference->set_type(onnx::AttributeProto::FLOAT);
  reference->set_ref_attr_name("factor");
  auto *product = function->add_node();
  product->set_op_type("Mul");
  product->add_input("a");
  product->add_input("f");
  product->add_output("b");
  model.input("x", {2}).node("Scaled", {"x"}, {"y"}).attribute("factor", 3.0f).output("y");
  model.model.mutable_graph()->mutable_node(0)->set_domain("custom");
  std::string text = imported(model);
  EXPECT_THAT(text, HasSubstr("arith.constant 3.000000e+00 : f32"));
  EXPECT_THAT(text, HasSubstr("arith.mulf"));
}

TEST(ControlFlow, RecursiveFunctionsAreRefused) {
  TestModel model(15);
  auto *domain = model.model.add_opset_import();
  domain->set_domain("custom");
  domain->set_version(1);
  auto *function = model.model.add_functions();
  function->set_name("Again");
  function->set_domain("custom");
  function->add_input("a");
  function->add_output("b");
  auto *opset = function->add_opset_import();
  opset->set_domain("custom");
  opset->set_version(1);
  auto *call = function->add_node();
  call->set_op_type("Again");
  call->set_domain("custom");
  call->add_input("a");
  call->add_output("b");
  model.input("x", {2}).node("Again", {"x"}, {"y"}).output("y");
  model.model.mutable_graph()->mutable_node(0)->set_domain("custom");
  EXPECT_THAT(imported(model), HasSubstr("error"));
}

TEST(ControlFlow, LstmIsOneProductAndOneRecurrence) {
  TestModel model(14);
  model.input("x", {3, 1, 2}).floats("w", {1, 8, 2}, std::vector<float>(16, 0.1f));
  model.floats("r", {1, 8, 2}, std::vector<float>(16, 0.2f)).node("LSTM", {"x", "w", "r"}, {"y"});
  model.attribute("hidden_size", int64_t(2)).output("y");
  std::string text = imported(model);
  EXPECT_EQ(occurrences(text, "linalg.matmul"), 1u);
  EXPECT_EQ(occurrences(text, "autotune.recurrence lstm"), 1u);
  EXPECT_THAT(text, HasSubstr("-> (tensor<3x1x1x2xf32>"));
}

TEST(ControlFlow, LstmOfOtherTypesIsUnrolledOverItsSteps) {
  constexpr int kDouble = onnx::TensorProto::DOUBLE;
  TestModel model(14);
  model.input("x", {3, 1, 2}, kDouble).input("w", {1, 8, 2}, kDouble).input("r", {1, 8, 2}, kDouble);
  model.node("LSTM", {"x", "w", "r"}, {"y"}).attribute("hidden_size", int64_t(2)).output("y");
  std::string text = imported(model);
  // One product of all inputs, and one of the state in each step.
  EXPECT_EQ(occurrences(text, "linalg.matmul"), 4u);
  EXPECT_THAT(text, HasSubstr("-> (tensor<3x1x1x2xf64>"));
}

TEST(ControlFlow, DirectionsWithOtherActivationsAreRecurrencesOfTheirOwn) {
  TestModel model(14);
  model.input("x", {3, 1, 2}).input("w", {2, 6, 2}).input("r", {2, 6, 2}).node("GRU", {"x", "w", "r"}, {"y"});
  model.attribute("hidden_size", int64_t(2)).attribute("direction", std::string("bidirectional")).output("y");
  EXPECT_EQ(occurrences(imported(model), "autotune.recurrence gru"), 1u);
  auto *activations = model.model.mutable_graph()->mutable_node(0)->add_attribute();
  activations->set_name("activations");
  activations->set_type(onnx::AttributeProto::STRINGS);
  for (const char *name : {"Sigmoid", "Tanh", "HardSigmoid", "Tanh"})
    activations->add_strings(name);
  EXPECT_EQ(occurrences(imported(model), "autotune.recurrence gru"), 2u);
}

} // namespace
