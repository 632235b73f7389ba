// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What files may look like: names, versions, domains, inputs and outputs in every combination that ONNX
// allows.
#include "test/unit/frontend/TestModel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using autotune::test::imported;
using autotune::test::occurrences;
using autotune::test::TestModel;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

namespace {

const auto kImports = Not(StartsWith("error"));

TestModel reluModel(int64_t opset = 13) {
  TestModel model(opset);
  model.input("x", {2}).node("Relu", {"x"}, {"y"}).output("y");
  return model;
}

TEST(ModelFiles, InitialisersThatAreAlsoInputsAreConstants) {
  TestModel model;
  model.input("x", {2}).input("w", {2}).floats("w", {2}, {5, 7}).node("Add", {"x", "w"}, {"y"}).output("y");
  std::string text = imported(model);
  EXPECT_THAT(text, HasSubstr("@main(%arg0: tensor<2xf32>"));
  EXPECT_THAT(text, Not(HasSubstr("%arg1")));
  EXPECT_THAT(text, HasSubstr("dense<[5.000000e+00, 7.000000e+00]>"));
}

TEST(ModelFiles, EveryVersionOfTheFormatIsRead) {
  for (int64_t version : {3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}) {
    TestModel model = reluModel(8);
    model.model.set_ir_version(version);
    EXPECT_THAT(imported(model), kImports) << version;
  }
}

TEST(ModelFiles, ImportedDomainsThatNobodyUsesDoNotMatter) {
  TestModel model = reluModel();
  for (const char *domain : {"com.example.custom", "ai.onnx.ml", "com.microsoft"}) {
    auto *import = model.model.add_opset_import();
    import->set_domain(domain);
    import->set_version(1);
  }
  EXPECT_THAT(imported(model), kImports);
}

TEST(ModelFiles, TheStandardDomainHasTwoSpellings) {
  TestModel model = reluModel();
  model.model.mutable_opset_import(0)->set_domain("ai.onnx");
  EXPECT_THAT(imported(model), kImports);
  auto *second = model.model.add_opset_import();
  second->set_version(11);
  EXPECT_THAT(imported(model), HasSubstr("'ai.onnx' is imported twice, as version 13 and as version 11"));
}

TEST(ModelFiles, MissingAndTooNewOpsetsAreNamed) {
  TestModel missing = reluModel();
  missing.model.clear_opset_import();
  EXPECT_THAT(imported(missing), HasSubstr("does not say which version of ai.onnx it uses"));
  EXPECT_THAT(imported(reluModel(999)), AllOf(HasSubstr("opset 999"), HasSubstr("newest supported one")));
  TestModel foreign = reluModel();
  foreign.model.mutable_graph()->mutable_node(0)->set_domain("com.example");
  EXPECT_THAT(imported(foreign),
              HasSubstr("1 of 1 nodes has an operator that is not supported: 1 com.example.Relu "
                        "('Relu_node'): the model imports no domain 'com.example'"));
}

TEST(ModelFiles, NodesNeedNoNamesAndNamesMayRepeat) {
  TestModel model;
  model.input("x", {2})
      .node("Exp", {"x"}, {"a"})
      .node("Exp", {"a"}, {"b"})
      .node("Exp", {"b"}, {"y"})
      .output("y");
  model.model.mutable_graph()->mutable_node(0)->clear_name();
  std::string text = imported(model);
  EXPECT_THAT(text, HasSubstr("loc(\"Exp_a\")"));
  EXPECT_EQ(occurrences(text, "math.exp"), 3u);
}

TEST(ModelFiles, ErrorsOfNodesWithoutNamesGiveTypeAndOutput) {
  TestModel model;
  model.input("x", {2, 3}).input("w", {4, 5}).node("MatMul", {"x", "w"}, {"y"}).output("y");
  model.model.mutable_graph()->mutable_node(0)->clear_name();
  EXPECT_THAT(imported(model), HasSubstr("node 'MatMul_y' (MatMul)"));
}

TEST(ModelFiles, ValuesAreDefinedOnce) {
  TestModel nodes;
  nodes.input("x", {2}).node("Exp", {"x"}, {"y"}).node("Relu", {"x"}, {"y"}).output("y");
  EXPECT_THAT(imported(nodes), AllOf(StartsWith("error"), HasSubstr("y")));
  TestModel initializers;
  initializers.input("x", {1}).floats("w", {1}, {1}).floats("w", {1}, {2}).node("Add", {"x", "w"}, {"y"});
  initializers.output("y").model.set_ir_version(9);
  EXPECT_THAT(imported(initializers), HasSubstr("two initialisers are named 'w'"));
  TestModel inputs;
  inputs.input("x", {1}).input("x", {1}).node("Relu", {"x"}, {"y"}).output("y").model.set_ir_version(9);
  EXPECT_THAT(imported(inputs), HasSubstr("two inputs are named 'x'"));
}

TEST(ModelFiles, ValuesThatNothingDefinesAreNamed) {
  TestModel model;
  model.input("x", {1}).node("Add", {"x", "nothing"}, {"y"}).output("y").model.set_ir_version(9);
  EXPECT_THAT(imported(model),
              HasSubstr("node 'Add_node' (Add): reads 'nothing', which nothing before it defines"));
  TestModel output = reluModel();
  output.output("z").model.set_ir_version(9);
  EXPECT_THAT(imported(output), HasSubstr("output 'z' is defined by no node"));
}

TEST(ModelFiles, MetadataIsIgnored) {
  TestModel model = reluModel();
  auto *entry = model.model.add_metadata_props();
  entry->set_key("author");
  entry->set_value("somebody");
  model.model.set_producer_name("exporter");
  model.model.mutable_graph()->set_doc_string("text");
  EXPECT_THAT(imported(model), kImports);
}

TEST(ModelFiles, InputsWithoutShapeAreBoundByTheUser) {
  TestModel model = reluModel();
  model.model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  model.model.set_ir_version(9);
  EXPECT_THAT(imported(model), HasSubstr("input 'x' has no shape; give it with --input-shape x="));
  EXPECT_THAT(imported(model, {{"x", {3, 4}}}), HasSubstr("%arg0: tensor<3x4xf32>"));
}

TEST(ModelFiles, InputsThatAreNoTensorsAreNamed) {
  TestModel model = reluModel();
  auto *type = model.model.mutable_graph()->mutable_input(0)->mutable_type();
  type->mutable_sequence_type()->mutable_elem_type()->mutable_tensor_type()->set_elem_type(1);
  model.model.set_ir_version(9);
  EXPECT_THAT(imported(model), HasSubstr("reads 'x', which is a sequence, expected a tensor"));
  type->mutable_sparse_tensor_type()->set_elem_type(1);
  EXPECT_THAT(imported(model), HasSubstr("input 'x' is not a dense tensor"));
  TestModel strings;
  strings.input("x", {2}, onnx::TensorProto::STRING).node("Identity", {"x"}, {"y"}).output("y");
  EXPECT_THAT(imported(strings), HasSubstr("input 'x' has element type STRING, which is not supported"));
}

TEST(ModelFiles, OutputsMayBeInputsAndInitialisers) {
  TestModel model;
  model.input("x", {2}).floats("w", {1}, {3}).node("Relu", {"x"}, {"y"});
  model.output("x").output("w").output("y");
  std::string text = imported(model);
  EXPECT_THAT(text, AllOf(HasSubstr("autotune.name = \"x\""), HasSubstr("autotune.name = \"w\""),
                          HasSubstr("return %arg0, %cst")));
}

TEST(ModelFiles, AValueMayBeSeveralOutputs) {
  TestModel model = reluModel();
  model.node("Identity", {"y"}, {"again"}).output("again").output("y");
  std::string text = imported(model);
  EXPECT_THAT(text, HasSubstr("tensor<2xf32>, tensor<2xf32>, tensor<2xf32>"));
  EXPECT_EQ(occurrences(text, "linalg.generic"), 1u);
}

TEST(ModelFiles, AGraphWithoutNodesGivesItsInputs) {
  TestModel model;
  model.input("x", {2}).output("x");
  EXPECT_THAT(imported(model), HasSubstr("return %arg0 : tensor<2xf32>"));
}

TEST(ModelFiles, NamesCannotBreakTheLine) {
  TestModel model;
  std::string name = "first\nsecond\x1b[31m\xff" + std::string(100000, 'n');
  model.input("x", {2, 3}).input("w", {4, 5}).node("MatMul", {"x", "w"}, {"y"}).output("y");
  model.model.mutable_graph()->mutable_node(0)->set_name(name);
  std::string text = imported(model);
  EXPECT_THAT(text, AllOf(StartsWith("error"), Not(HasSubstr("\n")), Not(HasSubstr("\x1b"))));
  EXPECT_LT(text.size(), 5000u);
}

TEST(ModelFiles, EveryNodeThatFailsIsNamedOnce) {
  TestModel model;
  model.input("x", {2, 3}).input("w", {4, 5}).node("MatMul", {"x", "w"}, {"a"}).node("Relu", {"a"}, {"b"});
  model.node("Softmax", {"x"}, {"c"})
      .attribute("axis", int64_t(7))
      .node("Add", {"b", "c"}, {"y"})
      .output("y");
  std::string text = imported(model);
  EXPECT_THAT(text, AllOf(HasSubstr("2 nodes cannot be imported: "), HasSubstr("'MatMul_node' (MatMul)"),
                          HasSubstr("; node 'Softmax_node' (Softmax)")));
  EXPECT_THAT(text, AllOf(Not(HasSubstr("Relu_node")), Not(HasSubstr("Add_node"))));
}

} // namespace
