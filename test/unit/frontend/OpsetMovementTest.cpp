// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that move elements, as opsets 13 to 23 define them: results worked out by hand.
#include "test/unit/frontend/Evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace autotune;
using namespace autotune::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

namespace {

using Shape = std::vector<int64_t>;

TEST(Split, NumOutputsLeavesTheRestToTheLast) {
  TestModel model(18);
  model.ints("x", {5}, {1, 2, 3, 4, 5})
      .node("Split", {"x"}, {"a", "b", "c"})
      .attribute("num_outputs", int64_t(3));
  model.output("a").output("b").output("c");
  std::vector<Tensor> parts = evaluated(model);
  ASSERT_THAT(parts, SizeIs(3));
  EXPECT_THAT(parts[0].values, ElementsAre(1, 2));
  EXPECT_THAT(parts[1].values, ElementsAre(3, 4));
  EXPECT_THAT(parts[2].values, ElementsAre(5));
}

TEST(Split, SizesAreAnAttributeUntilOpset13) {
  for (int64_t opset : {11, 13}) {
    TestModel model(opset);
    model.ints("x", {1, 3}, {1, 2, 3}).ints("sizes", {2}, {2, 1});
    model.node("Split", opset < 13 ? std::vector<std::string>{"x"} : std::vector<std::string>{"x", "sizes"},
               {"a", "b"});
    model.attribute("axis", int64_t(-1));
    if (opset < 13)
      model.integers("split", {2, 1});
    model.output("a").output("b");
    std::vector<Tensor> parts = evaluated(model);
    ASSERT_THAT(parts, SizeIs(2));
    EXPECT_EQ(parts[0].shape, (Shape{1, 2}));
    EXPECT_THAT(parts[1].values, ElementsAre(3));
  }
}

Tensor padOf(int64_t opset, const std::string &mode, const std::vector<int64_t> &pads,
             const std::vector<int64_t> &axes) {
  TestModel model(opset);
  model.ints("x", {2, 3}, {1, 2, 3, 4, 5, 6}).ints("pads", {int64_t(pads.size())}, pads);
  model.ints("value", {}, {9}).ints("axes", {int64_t(axes.size())}, axes);
  std::vector<std::string> inputs = {"x", "pads", mode == "constant" ? "value" : ""};
  if (!axes.empty())
    inputs.push_back("axes");
  model.node("Pad", inputs, {"y"}).attribute("mode", mode).output("y");
  return evaluatedOne(model);
}

TEST(Pad, AxesNameThoseThatArePadded) {
  Tensor y = padOf(18, "constant", {1, 0}, {-1});
  EXPECT_EQ(y.shape, (Shape{2, 4}));
  EXPECT_THAT(y.values, ElementsAre(9, 1, 2, 3, 9, 4, 5, 6));
}

TEST(Pad, WrapGoesRound) {
  Tensor y = padOf(19, "wrap", {1, 1, 0, 4}, {});
  EXPECT_EQ(y.shape, (Shape{3, 8}));
  EXPECT_THAT(y.values, ElementsAre(6, 4, 5, 6, 4, 5, 6, 4, 3, 1, 2, 3, 1, 2, 3, 1, 6, 4, 5, 6, 4, 5, 6, 4));
}

TEST(Pad, NegativePadsCutOff) {
  EXPECT_THAT(padOf(13, "constant", {0, -1, 0, 1}, {}).values, ElementsAre(2, 3, 9, 5, 6, 9));
}

TEST(Pad, ReflectAndEdge) {
  EXPECT_THAT(padOf(21, "reflect", {0, 2, 0, 1}, {}).values, ElementsAre(3, 2, 1, 2, 3, 2, 6, 5, 4, 5, 6, 5));
  EXPECT_THAT(padOf(23, "edge", {0, 1, 0, 1}, {}).values, ElementsAre(1, 1, 2, 3, 3, 4, 4, 5, 6, 6));
}

TEST(CenterCropPad, TheEndTakesTheLargerHalf) {
  TestModel model(18);
  model.ints("x", {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}).ints("shape", {2}, {5, 3});
  model.node("CenterCropPad", {"x", "shape"}, {"y"}).output("y");
  Tensor y = evaluatedOne(model);
  EXPECT_EQ(y.shape, (Shape{5, 3}));
  EXPECT_THAT(y.values, ElementsAre(0, 0, 0, 1, 2, 3, 5, 6, 7, 0, 0, 0, 0, 0, 0));
}

TEST(CenterCropPad, OnlyTheNamedAxes) {
  TestModel model(18);
  model.ints("x", {1, 2}, {1, 2}).ints("shape", {1}, {4});
  model.node("CenterCropPad", {"x", "shape"}, {"y"}).integers("axes", {-1}).output("y");
  EXPECT_THAT(evaluatedOne(model).values, ElementsAre(0, 1, 2, 0));
}

TEST(Reshape, ZeroCopiesOrIsZero) {
  TestModel copies(14);
  copies.ints("x", {2, 3}, {1, 2, 3, 4, 5, 6})
      .ints("shape", {3}, {0, -1, 1})
      .node("Reshape", {"x", "shape"}, {"y"});
  copies.output("y");
  EXPECT_EQ(evaluatedOne(copies).shape, (Shape{2, 3, 1}));
  TestModel zero(14);
  zero.ints("x", {0, 3}, {}).ints("shape", {2}, {3, 0}).node("Reshape", {"x", "shape"}, {"y"});
  zero.attribute("allowzero", int64_t(1)).output("y");
  EXPECT_EQ(evaluatedOne(zero).shape, (Shape{3, 0}));
}

TEST(Slice, NegativeStepsAndFarBounds) {
  TestModel model(13);
  model.ints("x", {5}, {0, 1, 2, 3, 4})
      .ints("from", {1}, {-1})
      .ints("to", {1}, {INT64_MIN})
      .ints("axes", {1}, {0});
  model.ints("steps", {1}, {-2}).node("Slice", {"x", "from", "to", "axes", "steps"}, {"y"}).output("y");
  EXPECT_THAT(evaluatedOne(model).values, ElementsAre(4, 2, 0));
}

TEST(Squeeze, AxesAreAnAttributeUntilOpset13) {
  for (int64_t opset : {11, 13, 23}) {
    TestModel model(opset);
    model.ints("x", {1, 2, 1}, {1, 2}).ints("axes", {1}, {-1});
    model.node("Squeeze", opset < 13 ? std::vector<std::string>{"x"} : std::vector<std::string>{"x", "axes"},
               {"y"});
    if (opset < 13)
      model.integers("axes", {-1});
    model.output("y");
    EXPECT_EQ(evaluatedOne(model).shape, (Shape{1, 2}));
  }
}

TEST(Scatter, ReductionsOfOpset18) {
  for (auto [reduction, expected] :
       {std::pair<std::string, double>{"max", 7}, {"min", -3}, {"add", 5}, {"mul", -21}}) {
    TestModel model(18);
    addTensor(model, "x", ElementType::F32, {2}, {0.5, 1});
    model.ints("at", {2}, {-1, 1});
    addTensor(model, "updates", ElementType::F32, {2}, {7, -3});
    model.node("ScatterElements", {"x", "at", "updates"}, {"y"})
        .attribute("reduction", reduction)
        .output("y");
    EXPECT_THAT(evaluatedOne(model).values, ElementsAre(0.5, expected)) << reduction;
  }
}

TEST(Scatter, IntegersByTupleOfOpset18) {
  TestModel model(18);
  addTensor(model, "x", ElementType::U8, {2, 2}, {1, 200, 3, 4});
  model.ints("at", {2, 2}, {0, 1, 1, 0});
  addTensor(model, "updates", ElementType::U8, {2}, {100, 250});
  model.node("ScatterND", {"x", "at", "updates"}, {"y"}).attribute("reduction", "max").output("y");
  EXPECT_THAT(evaluatedOne(model).values, ElementsAre(1, 200, 250, 4));
}

TEST(GatherND, BatchDimensions) {
  TestModel model(13);
  model.ints("x", {2, 3}, {1, 2, 3, 4, 5, 6})
      .ints("at", {2, 1}, {-1, 0})
      .node("GatherND", {"x", "at"}, {"y"});
  model.attribute("batch_dims", int64_t(1)).output("y");
  EXPECT_THAT(evaluatedOne(model).values, ElementsAre(3, 4));
}

TEST(OneHot, NegativeIndicesCountFromTheEnd) {
  TestModel model(11);
  model.ints("at", {2}, {-1, 5}).ints("depth", {}, {3});
  addTensor(model, "values", ElementType::F16, {2}, {0, 2});
  model.node("OneHot", {"at", "depth", "values"}, {"y"}).output("y");
  Tensor y = evaluatedOne(model);
  EXPECT_EQ(y.type, ElementType::F16);
  EXPECT_THAT(y.values, ElementsAre(0, 0, 2, 0, 0, 0));
}

TEST(Trilu, DiagonalMayBeFarAway) {
  TestModel model(14);
  addTensor(model, "x", ElementType::Bool, {2, 2}, {1, 1, 1, 1});
  model.ints("k", {}, {1}).node("Trilu", {"x", "k"}, {"y"}).attribute("upper", int64_t(0)).output("y");
  model.ints("far", {}, {INT64_MAX}).node("Trilu", {"x", "far"}, {"z"}).output("z");
  std::vector<Tensor> results = evaluated(model);
  ASSERT_THAT(results, SizeIs(2));
  EXPECT_THAT(results[0].values, ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(results[1].values, ElementsAre(0, 0, 0, 0));
}

TEST(Compress, KeepsNothingWhereTheConditionIsFalse) {
  TestModel model(11);
  model.ints("x", {2, 2}, {1, 2, 3, 4});
  addTensor(model, "none", ElementType::Bool, {2}, {0, 0});
  model.node("Compress", {"x", "none"}, {"y"}).attribute("axis", int64_t(1)).output("y");
  EXPECT_EQ(evaluatedOne(model).shape, (Shape{2, 0}));
}

} // namespace
