// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Spellings of layer normalisation and its form without the mean, and what only looks like them.
#include "test/unit/frontend/Recognition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace autotune::test;
using testing::HasSubstr;

namespace {

const std::vector<float> kScale = {1, 2, 0.5, -1, 1.5, 3, 0.25, 1}, kBias = {0, 1, -1, 2, 0.5, 0, 3, -2};

TestModel withX(int64_t opset = 13, int type = onnx::TensorProto::FLOAT) {
  TestModel model(opset);
  model.input("x", {2, 3, 8}, type).output("y").floats("scale", {8}, kScale).floats("bias", {8}, kBias);
  model.floats("epsilon", {}, {1e-5f}).floats("two", {}, {2}).floats("one", {}, {1});
  return model;
}

TestModel &mean(TestModel &model, const std::string &from, const std::string &to, int64_t axis = -1) {
  return model.node("ReduceMean", {from}, {to}).integers("axes", {axis});
}

/// x - mean as "d", the root of variance + epsilon as "r".
TestModel statistics(int64_t meanAxis = -1, int64_t varianceAxis = -1) {
  TestModel model = withX();
  mean(model, "x", "m", meanAxis).node("Sub", {"x", "m"}, {"d"}).node("Pow", {"d", "two"}, {"p"});
  mean(model, "p", "v", varianceAxis).node("Add", {"v", "epsilon"}, {"w"}).node("Sqrt", {"w"}, {"r"});
  return model;
}

TestModel layerNorm() {
  TestModel model = statistics();
  model.node("Div", {"d", "r"}, {"n"}).node("Mul", {"n", "scale"}, {"s"}).node("Add", {"s", "bias"}, {"y"});
  return model;
}

/// Several exporters of transformers without a mean: x over the root of its mean square.
TestModel rmsNorm(int64_t axis = -1) {
  TestModel model = withX();
  model.node("Pow", {"x", "two"}, {"p"});
  mean(model, "p", "v", axis).node("Add", {"v", "epsilon"}, {"w"}).node("Sqrt", {"w"}, {"r"});
  return model;
}

} // namespace

TEST(Pattern, LayerNorm) {
  Recognition found = recognition(layerNorm());
  EXPECT_EQ(found.problem, "");
  EXPECT_EQ(found.ideas, "layer_norm 1");
  EXPECT_LE(found.error, 2e-6);
  EXPECT_THAT(found.text, HasSubstr("axes [2] epsilon 9.9999997473787516E-6 : tensor<2x3x8xf32>"));
  EXPECT_EQ(occurrences(found.text, "autotune.layer_norm"), 1u) << found.text;
  EXPECT_EQ(occurrences(found.text, "linalg."), 0u) << found.text;
}

TEST(Pattern, LayerNormWithReciprocalAndProducts) {
  TestModel model = withX();
  mean(model, "x", "m").node("Sub", {"x", "m"}, {"d"}).node("Mul", {"d", "d"}, {"p"});
  mean(model, "p", "v")
      .node("Add", {"epsilon", "v"}, {"w"})
      .node("Sqrt", {"w"}, {"r"})
      .node("Reciprocal", {"r"}, {"i"});
  model.node("Mul", {"i", "d"}, {"n"}).node("Mul", {"scale", "n"}, {"s"}).node("Add", {"bias", "s"}, {"y"});
  expectIdea(model, "layer_norm 1");
}

TEST(Pattern, LayerNormWhoseDifferenceIsTakenTwice) {
  TestModel model = withX();
  mean(model, "x", "m")
      .node("Sub", {"x", "m"}, {"d"})
      .node("Sub", {"x", "m"}, {"e"})
      .node("Pow", {"e", "two"}, {"p"});
  mean(model, "p", "v")
      .node("Add", {"v", "epsilon"}, {"w"})
      .node("Sqrt", {"w"}, {"r"})
      .node("Div", {"d", "r"}, {"n"});
  model.node("Mul", {"n", "scale"}, {"s"}).node("Add", {"s", "bias"}, {"y"});
  expectIdea(model, "layer_norm 1");
}

TEST(Pattern, LayerNormFoldedIntoFactorAndOffset) {
  TestModel model = statistics();
  model.node("Reciprocal", {"r"}, {"i"}).node("Mul", {"i", "scale"}, {"f"}).node("Mul", {"x", "f"}, {"a"});
  model.node("Mul", {"m", "f"}, {"b"}).node("Sub", {"bias", "b"}, {"c"}).node("Add", {"a", "c"}, {"y"});
  expectIdea(model, "layer_norm 1");
}

TEST(Pattern, LayerNormOfDifferenceOfMeans) {
  TestModel model = withX();
  model.ints("axis", {1}, {-1})
      .ints("kept", {3}, {2, 3, 1})
      .floats("count", {}, {0.125f})
      .floats("zero", {}, {0});
  model.node("ReduceSum", {"x", "axis"}, {"a"})
      .attribute("keepdims", int64_t(0))
      .node("Mul", {"a", "count"}, {"m"});
  model.node("Mul", {"x", "x"}, {"q"})
      .node("ReduceSum", {"q", "axis"}, {"b"})
      .attribute("keepdims", int64_t(0));
  model.node("Mul", {"b", "count"}, {"e"}).node("Mul", {"m", "m"}, {"f"}).node("Sub", {"e", "f"}, {"g"});
  model.node("Max", {"zero", "g"}, {"h"})
      .node("Reshape", {"h", "kept"}, {"i"})
      .node("Add", {"i", "epsilon"}, {"w"});
  model.node("Sqrt", {"w"}, {"r"}).node("Reciprocal", {"r"}, {"j"}).node("Mul", {"j", "scale"}, {"k"});
  model.node("Reshape", {"m", "kept"}, {"n"}).node("Sub", {"x", "n"}, {"d"}).node("Mul", {"d", "k"}, {"s"});
  model.node("Add", {"s", "bias"}, {"y"});
  expectIdea(model, "layer_norm 1");
}

TEST(Pattern, LayerNormWithoutScaleOrBias) {
  TestModel bare = statistics();
  bare.node("Div", {"d", "r"}, {"y"});
  expectIdea(bare, "layer_norm 1");
  TestModel scaled = statistics();
  scaled.node("Div", {"d", "r"}, {"n"}).node("Mul", {"n", "scale"}, {"y"});
  expectIdea(scaled, "layer_norm 1");
}

TEST(Pattern, LayerNormOverChannels) {
  TestModel model;
  model.input("x", {2, 4, 3, 5}).output("y").floats("epsilon", {}, {1e-6f}).floats("two", {}, {2});
  model.floats("scale", {4, 1, 1}, {1, 2, 3, 4}).floats("bias", {1, 4, 1, 1}, {4, 3, 2, 1});
  mean(model, "x", "m", 1).node("Sub", {"x", "m"}, {"d"}).node("Pow", {"d", "two"}, {"p"});
  mean(model, "p", "v", 1)
      .node("Add", {"v", "epsilon"}, {"w"})
      .node("Sqrt", {"w"}, {"r"})
      .node("Div", {"d", "r"}, {"n"});
  model.node("Mul", {"scale", "n"}, {"s"}).node("Add", {"s", "bias"}, {"y"});
  expectIdea(model, "layer_norm 1");
}

TEST(Pattern, LayerNormOfHalvesWithStatisticsInSingle) {
  TestModel model(13);
  model.input("x", {2, 3, 8}, onnx::TensorProto::FLOAT16).output("y").floats("scale32", {8}, kScale);
  model.floats("bias32", {8}, kBias).floats("epsilon", {}, {1e-5f}).floats("two", {}, {2});
  model.node("Cast", {"scale32"}, {"scale"}).attribute("to", int64_t(onnx::TensorProto::FLOAT16));
  model.node("Cast", {"bias32"}, {"bias"}).attribute("to", int64_t(onnx::TensorProto::FLOAT16));
  mean(model, "x", "m").node("Sub", {"x", "m"}, {"d"});
  model.node("Cast", {"d"}, {"d32"})
      .attribute("to", int64_t(onnx::TensorProto::FLOAT))
      .node("Pow", {"d32", "two"}, {"p"});
  mean(model, "p", "v").node("Add", {"v", "epsilon"}, {"w"}).node("Sqrt", {"w"}, {"r32"});
  model.node("Cast", {"r32"}, {"r"})
      .attribute("to", int64_t(onnx::TensorProto::FLOAT16))
      .node("Div", {"d", "r"}, {"n"});
  model.node("Mul", {"n", "scale"}, {"s"}).node("Add", {"s", "bias"}, {"y"});
  expectIdea(model, "layer_norm 1", 2e-3);
}

TEST(Pattern, RmsNorm) {
  TestModel divided = rmsNorm();
  divided.node("Div", {"x", "r"}, {"n"}).node("Mul", {"scale", "n"}, {"y"});
  expectIdea(divided, "rms_norm 1");
  TestModel reciprocal = rmsNorm();
  reciprocal.node("Div", {"one", "r"}, {"i"})
      .node("Mul", {"x", "i"}, {"n"})
      .node("Mul", {"n", "scale"}, {"y"});
  expectIdea(reciprocal, "rms_norm 1");
}

TEST(Pattern, RmsNormOfHalvesWidenedFirst) {
  TestModel model(13);
  model.input("x", {2, 3, 8}, onnx::TensorProto::FLOAT16).output("y").floats("scale32", {8}, kScale);
  model.floats("epsilon", {}, {1e-6f}).floats("two", {}, {2});
  model.node("Cast", {"scale32"}, {"scale"}).attribute("to", int64_t(onnx::TensorProto::FLOAT16));
  model.node("Cast", {"x"}, {"x32"})
      .attribute("to", int64_t(onnx::TensorProto::FLOAT))
      .node("Pow", {"x32", "two"}, {"p"});
  mean(model, "p", "v")
      .node("Add", {"v", "epsilon"}, {"w"})
      .node("Sqrt", {"w"}, {"r"})
      .node("Reciprocal", {"r"}, {"i"});
  model.node("Mul", {"x32", "i"}, {"n32"});
  model.node("Cast", {"n32"}, {"n"}).attribute("to", int64_t(onnx::TensorProto::FLOAT16));
  model.node("Mul", {"scale", "n"}, {"y"});
  Recognition found = recognition(model);
  EXPECT_EQ(found.ideas, "rms_norm 1");
  EXPECT_LE(found.error, 1e-3);
  EXPECT_THAT(found.text, HasSubstr("autotune.layer_norm rms %arg0"));
}

TEST(Pattern, MeanOverOtherAxesIsNoLayerNorm) {
  TestModel model = statistics(-1, 1);
  model.node("Div", {"d", "r"}, {"y"});
  // What is left is the form without a mean, of the difference.
  expectIdea(model, "rms_norm 1");
}

TEST(Pattern, EpsilonBesideTheRootIsNoLayerNorm) {
  TestModel model = withX();
  mean(model, "x", "m").node("Sub", {"x", "m"}, {"d"}).node("Pow", {"d", "two"}, {"p"});
  mean(model, "p", "v")
      .node("Sqrt", {"v"}, {"r"})
      .node("Add", {"r", "epsilon"}, {"w"})
      .node("Div", {"d", "w"}, {"y"});
  expectNone(model);
}

TEST(Pattern, OtherPowersAreNoLayerNorm) {
  TestModel model = withX();
  model.floats("three", {}, {4});
  mean(model, "x", "m").node("Sub", {"x", "m"}, {"d"}).node("Pow", {"d", "three"}, {"p"});
  mean(model, "p", "v")
      .node("Add", {"v", "epsilon"}, {"w"})
      .node("Sqrt", {"w"}, {"r"})
      .node("Div", {"d", "r"}, {"y"});
  expectNone(model);
}

TEST(Pattern, StatisticsOfAnotherValueAreNoLayerNorm) {
  TestModel model = withX();
  model.input("z", {2, 3, 8});
  mean(model, "z", "m").node("Sub", {"x", "m"}, {"d"}).node("Pow", {"d", "two"}, {"p"});
  mean(model, "p", "v")
      .node("Add", {"v", "epsilon"}, {"w"})
      .node("Sqrt", {"w"}, {"r"})
      .node("Div", {"d", "r"}, {"y"});
  // What is left is the form without a mean, of the difference.
  expectIdea(model, "rms_norm 1");
}

TEST(Pattern, ScaleAcrossRowsIsNoPartOfLayerNorm) {
  TestModel model = statistics();
  model.floats("rows", {3, 1}, {1, 2, 3}).node("Div", {"d", "r"}, {"n"}).node("Mul", {"n", "rows"}, {"y"});
  Recognition found = recognition(model);
  EXPECT_EQ(found.ideas, "layer_norm 1");
  EXPECT_EQ(occurrences(found.text, "linalg.generic"), 1u) << found.text;
  EXPECT_LE(found.error, 2e-6);
}

TEST(Pattern, LayerNormWhoseMeanIsReadElsewhereIsFound) {
  TestModel model = layerNorm();
  model.output("m");
  expectIdea(model, "layer_norm 1");
}

TEST(Pattern, LayerNormWhoseDifferenceIsReadElsewhereIsNotComputedTwice) {
  TestModel model = layerNorm();
  model.output("d");
  expectNone(model);
}
