// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Spellings of GELU, SiLU, hard swish, hard sigmoid, Mish and softmax, and what only looks like them.
#include "test/unit/frontend/Recognition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

using namespace autotune::test;

namespace {

TestModel withX(int64_t opset = 13) {
  TestModel model(opset);
  model.input("x", {2, 3, 8}).output("y");
  return model;
}

/// Div, Erf, Add, then two products.
TestModel gelu(float root, float one, float half) {
  TestModel model = withX();
  model.floats("root", {}, {root}).floats("one", {}, {one}).floats("half", {}, {half});
  model.node("Div", {"x", "root"}, {"a"}).node("Erf", {"a"}, {"b"}).node("Add", {"b", "one"}, {"c"});
  model.node("Mul", {"x", "c"}, {"d"}).node("Mul", {"d", "half"}, {"y"});
  return model;
}

} // namespace

TEST(Pattern, GeluWithErf) {
  Recognition found = recognition(gelu(std::sqrt(2.0f), 1, 0.5f));
  EXPECT_EQ(found.ideas, "gelu 1");
  EXPECT_LE(found.error, 1e-6);
  EXPECT_EQ(occurrences(found.text, "linalg.generic"), 1u) << found.text;
}

TEST(Pattern, GeluInAnyOrder) {
  TestModel halfFirst = withX();
  halfFirst.floats("root", {1}, {std::sqrt(0.5f)}).floats("one", {1, 1, 1}, {1}).floats("half", {}, {0.5f});
  halfFirst.node("Mul", {"half", "x"}, {"h"}).node("Mul", {"x", "root"}, {"a"}).node("Erf", {"a"}, {"b"});
  halfFirst.node("Add", {"one", "b"}, {"c"}).node("Mul", {"h", "c"}, {"y"});
  expectIdea(halfFirst, "gelu 1");

  TestModel halfInside = withX();
  halfInside.floats("root", {}, {std::sqrt(2.0f)}).floats("half", {}, {0.5f});
  halfInside.node("Div", {"x", "root"}, {"a"}).node("Erf", {"a"}, {"b"}).node("Mul", {"b", "half"}, {"m"});
  halfInside.node("Add", {"m", "half"}, {"c"}).node("Mul", {"c", "x"}, {"y"});
  expectIdea(halfInside, "gelu 1");

  TestModel halved = withX();
  halved.floats("root", {}, {std::sqrt(2.0f)}).floats("one", {}, {1}).floats("two", {}, {2});
  halved.node("Div", {"x", "root"}, {"a"}).node("Erf", {"a"}, {"b"}).node("Add", {"b", "one"}, {"c"});
  halved.node("Mul", {"x", "c"}, {"d"}).node("Div", {"d", "two"}, {"y"});
  expectIdea(halved, "gelu 1");
}

TEST(Pattern, GeluOfProductsAndGates) {
  TestModel model = withX();
  model.input("g", {2, 3, 8})
      .floats("root", {}, {std::sqrt(2.0f)})
      .floats("one", {}, {1})
      .floats("half", {}, {0.5f});
  model.node("Mul", {"x", "g"}, {"p"}).node("Div", {"p", "root"}, {"a"}).node("Erf", {"a"}, {"b"});
  model.node("Add", {"b", "one"}, {"c"}).node("Mul", {"p", "c"}, {"d"}).node("Mul", {"d", "half"}, {"e"});
  model.node("Mul", {"e", "g"}, {"y"});
  expectIdea(model, "gelu 1");
}

TEST(Pattern, GeluWithTanh) {
  TestModel cube = withX();
  cube.floats("three", {}, {3})
      .floats("c", {}, {0.044715f})
      .floats("slope", {}, {std::sqrt(2 / float(M_PI))});
  cube.floats("one", {}, {1}).floats("half", {}, {0.5f});
  cube.node("Pow", {"x", "three"}, {"p"}).node("Mul", {"p", "c"}, {"q"}).node("Add", {"x", "q"}, {"r"});
  cube.node("Mul", {"r", "slope"}, {"s"}).node("Tanh", {"s"}, {"t"}).node("Add", {"t", "one"}, {"u"});
  cube.node("Mul", {"x", "half"}, {"h"}).node("Mul", {"h", "u"}, {"y"});
  expectIdea(cube, "gelu 1");

  // x · (0.5 + 0.5 · tanh(x · (0.0356774 x² + 0.7978846)))
  TestModel factored = withX();
  factored.floats("c", {}, {0.035677408f}).floats("slope", {}, {0.7978845608f}).floats("half", {}, {0.5f});
  factored.node("Mul", {"x", "x"}, {"p"}).node("Mul", {"c", "p"}, {"q"}).node("Add", {"q", "slope"}, {"r"});
  factored.node("Mul", {"x", "r"}, {"s"}).node("Tanh", {"s"}, {"t"}).node("Mul", {"half", "t"}, {"u"});
  factored.node("Add", {"half", "u"}, {"v"}).node("Mul", {"x", "v"}, {"y"});
  expectIdea(factored, "gelu 1");
}

TEST(Pattern, GeluWithSigmoid) {
  TestModel model = withX();
  model.floats("slope", {}, {1.702f}).node("Mul", {"x", "slope"}, {"a"}).node("Sigmoid", {"a"}, {"b"});
  model.node("Mul", {"x", "b"}, {"y"});
  expectIdea(model, "gelu 1");
}

TEST(Pattern, GeluWithOtherNumbersIsNone) {
  expectNone(gelu(1.5f, 1, 0.5f));
  expectNone(gelu(std::sqrt(2.0f), 1.1f, 0.5f));
  expectNone(gelu(std::sqrt(2.0f), 1, 0.25f));
}

TEST(Pattern, GeluWhosePiecesAreReadElsewhereIsNotComputedTwice) {
  TestModel model = gelu(std::sqrt(2.0f), 1, 0.5f);
  model.output("b");
  expectNone(model);
}

TEST(Pattern, Silu) {
  TestModel model = withX();
  model.node("Sigmoid", {"x"}, {"s"}).node("Mul", {"x", "s"}, {"y"});
  expectIdea(model, "silu 1");
  TestModel spelled = withX();
  spelled.floats("one", {}, {1})
      .node("Neg", {"x"}, {"n"})
      .node("Exp", {"n"}, {"e"})
      .node("Add", {"e", "one"}, {"a"});
  spelled.node("Div", {"one", "a"}, {"s"}).node("Mul", {"s", "x"}, {"y"});
  expectIdea(spelled, "silu 1");
  TestModel divided = withX();
  divided.floats("one", {}, {1}).node("Neg", {"x"}, {"n"}).node("Exp", {"n"}, {"e"});
  divided.node("Add", {"one", "e"}, {"a"}).node("Reciprocal", {"a"}, {"y"});
  expectIdea(divided, "sigmoid 1");
}

TEST(Pattern, SigmoidOfAnotherValueIsNoSilu) {
  TestModel model = withX();
  model.input("g", {2, 3, 8}).node("Sigmoid", {"g"}, {"s"}).node("Mul", {"x", "s"}, {"y"});
  expectNone(model);
  TestModel broadcast = withX();
  broadcast.input("g", {1, 3, 8}).node("Sigmoid", {"g"}, {"s"}).node("Mul", {"s", "g"}, {"z"});
  broadcast.node("Mul", {"x", "z"}, {"y"});
  expectIdea(broadcast, "silu 1");
}

TEST(Pattern, HardSwish) {
  TestModel clip = withX();
  clip.floats("three", {}, {3})
      .floats("zero", {}, {0})
      .floats("six", {}, {6})
      .node("Add", {"x", "three"}, {"a"});
  clip.node("Clip", {"a", "zero", "six"}, {"c"})
      .node("Mul", {"x", "c"}, {"m"})
      .node("Div", {"m", "six"}, {"y"});
  expectIdea(clip, "hard_swish 1");

  TestModel divided = withX(9);
  divided.floats("three", {1}, {3}).floats("six", {1}, {6}).node("Add", {"x", "three"}, {"a"});
  divided.node("Clip", {"a"}, {"c"}).attribute("min", 0.0f).attribute("max", 6.0f);
  divided.node("Div", {"c", "six"}, {"d"}).node("Mul", {"d", "x"}, {"y"});
  expectIdea(divided, "hard_swish 1");

  TestModel relu = withX();
  relu.floats("three", {}, {3}).floats("six", {}, {6}).floats("sixth", {}, {1 / 6.0f});
  relu.node("Add", {"three", "x"}, {"a"}).node("Relu", {"a"}, {"r"}).node("Min", {"r", "six"}, {"c"});
  relu.node("Mul", {"c", "sixth"}, {"d"}).node("Mul", {"x", "d"}, {"y"});
  expectIdea(relu, "hard_swish 1");

  TestModel sigmoid = withX();
  sigmoid.node("HardSigmoid", {"x"}, {"s"}).attribute("alpha", 1 / 6.0f).attribute("beta", 0.5f);
  sigmoid.node("Mul", {"x", "s"}, {"y"});
  expectIdea(sigmoid, "hard_swish 1");
}

TEST(Pattern, HardSwishWithOtherNumbersIsNone) {
  TestModel sigmoid = withX();
  sigmoid.node("HardSigmoid", {"x"}, {"s"}).attribute("alpha", 0.2f).attribute("beta", 0.5f);
  sigmoid.node("Mul", {"x", "s"}, {"y"});
  expectNone(sigmoid);
  TestModel clip = withX();
  clip.floats("three", {}, {3}).floats("zero", {}, {0}).floats("six", {}, {6}).floats("five", {}, {5});
  clip.node("Add", {"x", "three"}, {"a"})
      .node("Clip", {"a", "zero", "six"}, {"c"})
      .node("Mul", {"x", "c"}, {"m"});
  clip.node("Div", {"m", "five"}, {"y"});
  expectNone(clip);
}

TEST(Pattern, HardSigmoid) {
  TestModel clip = withX();
  clip.floats("three", {}, {3})
      .floats("zero", {}, {0})
      .floats("six", {}, {6})
      .node("Add", {"x", "three"}, {"a"});
  clip.node("Clip", {"a", "zero", "six"}, {"c"}).node("Div", {"c", "six"}, {"y"});
  expectIdea(clip, "hard_sigmoid 1");
  TestModel line = withX();
  line.floats("slope", {}, {0.2f}).floats("half", {}, {0.5f}).floats("zero", {}, {0}).floats("one", {}, {1});
  line.node("Mul", {"x", "slope"}, {"a"})
      .node("Add", {"a", "half"}, {"b"})
      .node("Clip", {"b", "zero", "one"}, {"y"});
  expectIdea(line, "hard_sigmoid 1");
  TestModel high = withX();
  high.floats("three", {}, {3})
      .floats("zero", {}, {0})
      .floats("six", {}, {6})
      .node("Add", {"x", "three"}, {"a"});
  high.node("Clip", {"a", "zero", "six"}, {"y"});
  expectNone(high);
}

TEST(Pattern, Mish) {
  TestModel model = withX();
  model.node("Softplus", {"x"}, {"s"}).node("Tanh", {"s"}, {"t"}).node("Mul", {"x", "t"}, {"y"});
  expectIdea(model, "mish 1");
  TestModel spelled = withX();
  spelled.floats("one", {}, {1})
      .node("Exp", {"x"}, {"e"})
      .node("Add", {"e", "one"}, {"a"})
      .node("Log", {"a"}, {"s"});
  spelled.node("Tanh", {"s"}, {"t"}).node("Mul", {"t", "x"}, {"y"});
  expectIdea(spelled, "mish 1");
  TestModel two = withX();
  two.floats("two", {}, {2})
      .node("Exp", {"x"}, {"e"})
      .node("Add", {"e", "two"}, {"a"})
      .node("Log", {"a"}, {"y"});
  expectNone(two);
}

namespace {

TestModel softmax(int64_t sumAxis, int64_t maxAxis, bool multiplies) {
  TestModel model = withX();
  model.ints("axis", {1}, {sumAxis});
  model.node("ReduceMax", {"x"}, {"m"}).integers("axes", {maxAxis}).node("Sub", {"x", "m"}, {"d"});
  model.node("Exp", {"d"}, {"e"}).node("ReduceSum", {"e", "axis"}, {"s"});
  if (multiplies)
    model.node("Reciprocal", {"s"}, {"r"}).node("Mul", {"r", "e"}, {"y"});
  else
    model.node("Div", {"e", "s"}, {"y"});
  return model;
}

} // namespace

TEST(Pattern, SoftmaxInPieces) {
  EXPECT_THAT(recognition(softmax(-1, 2, false)).text, testing::HasSubstr("linalg.softmax dimension(2)"));
  expectIdea(softmax(-1, 2, false), "softmax 1");
  expectIdea(softmax(1, -2, true), "softmax 1");
}

TEST(Pattern, SoftmaxOfRowsThatLoseTheirDimension) {
  TestModel model = withX();
  model.ints("axis", {1}, {1}).ints("kept", {3}, {2, 1, 8}).floats("least", {}, {-INFINITY});
  model.node("ReduceMax", {"x"}, {"m"}).integers("axes", {1}).attribute("keepdims", int64_t(0));
  model.node("Max", {"least", "m"}, {"h"})
      .node("Reshape", {"h", "kept"}, {"n"})
      .node("Sub", {"x", "n"}, {"d"});
  model.node("Exp", {"d"}, {"e"}).node("ReduceSum", {"e", "axis"}, {"s"}).attribute("keepdims", int64_t(0));
  model.node("Reshape", {"s", "kept"}, {"t"})
      .node("Expand", {"t", "kept"}, {"u"})
      .node("Div", {"e", "u"}, {"y"});
  expectIdea(model, "softmax 1");
}

TEST(Pattern, SoftmaxOverDifferentAxesIsNone) { expectNone(softmax(1, 2, false)); }

TEST(Pattern, SoftmaxWithoutTheMaximumIsNone) {
  TestModel model = withX();
  model.ints("axis", {1}, {2}).node("Exp", {"x"}, {"e"}).node("ReduceSum", {"e", "axis"}, {"s"});
  model.node("Div", {"e", "s"}, {"y"});
  expectNone(model);
}

TEST(Pattern, ChannelShuffleIsOneTransposition) {
  TestModel model;
  model.input("x", {1, 6, 4, 5})
      .output("y")
      .ints("split", {5}, {1, 2, 3, 4, 5})
      .ints("whole", {4}, {1, 6, 4, 5});
  model.node("Reshape", {"x", "split"}, {"a"})
      .node("Transpose", {"a"}, {"b"})
      .integers("perm", {0, 2, 1, 3, 4});
  model.node("Reshape", {"b", "whole"}, {"y"});
  Recognition found = recognition(model);
  EXPECT_EQ(occurrences(found.text, "linalg."), 1u) << found.text;
  EXPECT_THAT(found.text, testing::HasSubstr("linalg.transpose"));
  EXPECT_EQ(found.error, 0);
}
