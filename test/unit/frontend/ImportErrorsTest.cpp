// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bad files and bad models: each gives one clear line.
#include "test/unit/frontend/TestModel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

using autotune::test::imported;
using autotune::test::importText;
using autotune::test::TestModel;
using autotune::test::writeTemporary;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

std::string importError(const std::string &path) {
  llvm::Expected<std::string> text = importText(path);
  return text ? "no error" : llvm::toString(text.takeError());
}

TEST(ImportErrors, MissingFileAndFolder) {
  EXPECT_THAT(importError("/nonexistent/model.onnx"), HasSubstr("/nonexistent/model.onnx: No such file"));
  EXPECT_THAT(importError(testing::TempDir()), HasSubstr("is a directory"));
}

TEST(ImportErrors, EmptyTruncatedAndRandomBytes) {
  EXPECT_THAT(importError(writeTemporary("empty.onnx", "")), HasSubstr("the file is empty"));
  TestModel model;
  model.input("x", {2}).node("Relu", {"x"}, {"y"}).output("y");
  std::string bytes = model.serialized();
  for (size_t length = 1; length < bytes.size(); ++length) {
    std::string message = importError(writeTemporary("truncated.onnx", bytes.substr(0, length)));
    EXPECT_THAT(message, AllOf(HasSubstr("truncated.onnx: "), Not(HasSubstr("\n")))) << length;
  }
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::string noise = bytes;
    for (int i = 0; i < 4; ++i)
      noise[random() % noise.size()] = static_cast<char>(random());
    (void)importError(writeTemporary("noise.onnx", noise));
  }
}

TEST(ImportErrors, EmptyGraph) { EXPECT_THAT(imported(TestModel()), HasSubstr("the graph is empty")); }

TEST(ImportErrors, UnsupportedNodesAreAllNamed) {
  TestModel model;
  model.input("x", {2}).node("ImageDecoder", {"x"}, {"a"}).node("Bernoulli", {"a"}, {"y"}).output("y");
  EXPECT_THAT(
      imported(model),
      HasSubstr(
          "2 of 2 nodes have operators that are not supported: "
          "1 ImageDecoder ('ImageDecoder_node'): it decodes image files; "
          "1 Bernoulli ('Bernoulli_node'): its result is random"));
}

TestModel dynamicModel() {
  TestModel model;
  model.input("x", {"batch", 3}).input("z", {"batch", 3}).node("Add", {"x", "z"}, {"y"}).output("y");
  return model;
}

TEST(ImportErrors, UnboundDimensionNamesInputAndOption) {
  EXPECT_THAT(imported(dynamicModel()),
              AllOf(HasSubstr("input 'x'"), HasSubstr("'batch'"), HasSubstr("--input-shape x=")));
}

TEST(ImportErrors, NamedDimensionsAreBoundTogether) {
  EXPECT_THAT(imported(dynamicModel(), {{"z", {5, 3}}}), HasSubstr("%arg0: tensor<5x3xf32>"));
  EXPECT_THAT(
      imported(dynamicModel(), {{"x", {4, 3}}, {"z", {5, 3}}}),
      AllOf(HasSubstr("'batch'"), HasSubstr("4"), HasSubstr("5"), HasSubstr("'x'"), HasSubstr("'z'")));
}

TEST(ImportErrors, WrongBindings) {
  EXPECT_THAT(imported(dynamicModel(), {{"q", {1}}}), AllOf(HasSubstr("'q'"), HasSubstr("'x', 'z'")));
  EXPECT_THAT(imported(dynamicModel(), {{"x", {1}}}), HasSubstr("has rank 2, the given shape 1 has rank 1"));
  EXPECT_THAT(imported(dynamicModel(), {{"x", {1, 4}}}),
              HasSubstr("dimension 1 is 3 in the model, 4 in the given"));
}

TEST(ImportErrors, BuildersNameTheNode) {
  TestModel model;
  model.input("x", {2, 3}).input("w", {4, 5}).node("MatMul", {"x", "w"}, {"y"}).output("y");
  EXPECT_THAT(imported(model), HasSubstr("node 'MatMul_node' (MatMul): operands 2x3 and 4x5 do not fit"));
  TestModel axis;
  axis.input("x", {2, 3}).node("Softmax", {"x"}, {"y"}).attribute("axis", int64_t(7)).output("y");
  EXPECT_THAT(imported(axis), HasSubstr("axis 7 is outside a tensor of rank 2"));
}

TEST(ImportErrors, DataDependentShape) {
  TestModel model;
  model.input("x", {2, 3}).input("shape", {2}, onnx::TensorProto::INT64);
  model.node("Reshape", {"x", "shape"}, {"y"}).output("y");
  EXPECT_THAT(imported(model), AllOf(HasSubstr("'shape'"), HasSubstr("known at import")));
}

TEST(ImportErrors, HugeTensorsAreRefusedBeforeTheyAreAllocated) {
  TestModel model;
  model.ints("shape", {3}, {1 << 20, 1 << 20, 1 << 20}).node("ConstantOfShape", {"shape"}, {"y"}).output("y");
  EXPECT_THAT(imported(model), HasSubstr("too large"));
  TestModel initializer;
  initializer.floats("w", {1 << 20, 1 << 20}, {1}).node("Relu", {"w"}, {"y"}).output("y");
  EXPECT_THAT(imported(initializer), HasSubstr("error"));
}

} // namespace

TEST(ImportErrors, OperandsOfAnotherTypeThanOnnxAllowsAreNamed) {
  TestModel model;
  model.input("x", {2}, onnx::TensorProto::INT32).node("Tanh", {"x"}, {"y"}).output("y");
  EXPECT_THAT(imported(model), HasSubstr("input 0 is i32, expected f16 or bf16 or f32 or f64"));
}
