// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions, arg-maxima and orderings as opsets 11 to 23 define them.
#include "test/unit/frontend/Evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

using namespace autotune;
using namespace autotune::test;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::SizeIs;

namespace {

using Shape = std::vector<int64_t>;

/// Reduces [[1, 2, 3], [4, 5, 6]] over `axis`, which is an operand from `sinceOperand` on.
Tensor reduced(const std::string &op, int64_t opset, int64_t sinceOperand, ElementType type, int64_t axis) {
  TestModel model(opset);
  addTensor(model, "x", type, {2, 3}, {1, 2, 3, 4, 5, 6});
  bool operand = opset >= sinceOperand;
  model.ints("axes", {1}, {axis});
  model.node(op, operand ? std::vector<std::string>{"x", "axes"} : std::vector<std::string>{"x"}, {"y"});
  if (!operand)
    model.integers("axes", {axis});
  model.attribute("keepdims", int64_t(0)).output("y");
  return evaluatedOne(model);
}

struct Case {
  const char *op;
  double first, second; // over the rows
};

TEST(Reduce, AxesAreAnAttributeThenAnOperand) {
  const Case cases[] = {{"ReduceMax", 3, 6},
                        {"ReduceMin", 1, 4},
                        {"ReduceMean", 2, 5},
                        {"ReduceProd", 6, 120},
                        {"ReduceL1", 6, 15},
                        {"ReduceL2", std::sqrt(14), std::sqrt(77)},
                        {"ReduceSumSquare", 14, 77},
                        {"ReduceLogSum", std::log(6), std::log(15)},
                        {"ReduceLogSumExp", 3 + std::log(1 + std::exp(-1) + std::exp(-2)),
                         6 + std::log(1 + std::exp(-1) + std::exp(-2))}};
  for (const Case &c : cases)
    for (int64_t opset : {11, 13, 18, 23})
      for (ElementType type : {ElementType::F32, ElementType::F64})
        EXPECT_THAT(reduced(c.op, opset, 18, type, -1).values,
                    ElementsAre(DoubleNear(c.first, 1e-5), DoubleNear(c.second, 1e-5)))
            << c.op << " " << opset;
  for (int64_t opset : {11, 13, 23})
    EXPECT_THAT(reduced("ReduceSum", opset, 13, ElementType::I32, 0).values, ElementsAre(5, 7, 9));
}

TEST(Reduce, HalfTypesSumInSinglePrecision) {
  // In half precision 2048 + 1 is 2048.
  TestModel model(18);
  std::vector<double> values(5, 1);
  values[0] = 2048;
  addTensor(model, "x", ElementType::F16, {5}, values);
  model.node("ReduceSum", {"x"}, {"y"}).attribute("keepdims", int64_t(0)).output("y");
  EXPECT_THAT(evaluatedOne(model).values, ElementsAre(2052));
}

TEST(Reduce, EmptyAxesMeanAllOrNone) {
  for (bool noop : {false, true}) {
    TestModel model(18);
    model.ints("x", {2, 2}, {1, 2, 3, 4}).ints("axes", {0}, {}).node("ReduceMax", {"x", "axes"}, {"y"});
    model.attribute("noop_with_empty_axes", int64_t(noop)).output("y");
    Tensor y = evaluatedOne(model);
    EXPECT_EQ(y.shape, noop ? (Shape{2, 2}) : (Shape{1, 1}));
    EXPECT_EQ(y.values.back(), 4);
  }
}

TEST(Reduce, MaxAndMinOfBools) {
  TestModel model(20);
  addTensor(model, "x", ElementType::Bool, {2, 2}, {0, 1, 0, 0});
  model.ints("axes", {1}, {1}).node("ReduceMax", {"x", "axes"}, {"any"}).attribute("keepdims", int64_t(0));
  model.node("ReduceMin", {"x", "axes"}, {"all"})
      .attribute("keepdims", int64_t(0))
      .output("any")
      .output("all");
  std::vector<Tensor> results = evaluated(model);
  ASSERT_THAT(results, SizeIs(2));
  EXPECT_EQ(results[0].type, ElementType::Bool);
  EXPECT_THAT(results[0].values, ElementsAre(1, 0));
  EXPECT_THAT(results[1].values, ElementsAre(0, 0));
}

TEST(Reduce, UnsignedAndNarrowIntegers) {
  TestModel model(18);
  addTensor(model, "u", ElementType::U8, {3}, {7, 200, 100});
  addTensor(model, "i", ElementType::I8, {3}, {7, -56, 100});
  model.node("ReduceMax", {"u"}, {"a"}).node("ReduceMin", {"i"}, {"b"}).output("a").output("b");
  std::vector<Tensor> results = evaluated(model);
  ASSERT_THAT(results, SizeIs(2));
  EXPECT_THAT(results[0].values, ElementsAre(200));
  EXPECT_THAT(results[1].values, ElementsAre(-56));
}

TEST(ArgMax, LastIndexOfEqualElements) {
  for (bool last : {false, true}) {
    TestModel model(13);
    addTensor(model, "x", ElementType::I32, {2, 3}, {5, 1, 5, 0, 0, -1});
    model.node("ArgMax", {"x"}, {"y"}).attribute("axis", int64_t(-1)).attribute("keepdims", int64_t(0));
    model.attribute("select_last_index", int64_t(last)).output("y");
    EXPECT_THAT(evaluatedOne(model).values, last ? ElementsAre(2, 1) : ElementsAre(0, 0));
  }
}

TEST(TopK, SmallestOfIntegers) {
  TestModel model(11);
  addTensor(model, "x", ElementType::I64, {1, 4}, {3, -1, 7, -1});
  model.ints("k", {1}, {3}).node("TopK", {"x", "k"}, {"v", "i"}).attribute("largest", int64_t(0));
  model.output("v").output("i");
  std::vector<Tensor> results = evaluated(model);
  ASSERT_THAT(results, SizeIs(2));
  EXPECT_THAT(results[0].values, ElementsAre(-1, -1, 3));
  EXPECT_THAT(results[1].values, ElementsAre(1, 3, 0));
}

TEST(TopK, CountIsAnAttributeBeforeOpset10) {
  TestModel model(9);
  model.floats("x", {3}, {1, 3, 2})
      .node("TopK", {"x"}, {"v", "i"})
      .attribute("k", int64_t(2))
      .output("v")
      .output("i");
  std::vector<Tensor> results = evaluated(model);
  ASSERT_THAT(results, SizeIs(2));
  EXPECT_THAT(results[0].values, ElementsAre(3, 2));
}

TEST(CumSum, ExclusiveAndReversed) {
  for (auto [exclusive, reverse, expected] :
       {std::tuple<int64_t, int64_t, std::vector<double>>{0, 0, {1, 3, 6}},
        {1, 0, {0, 1, 3}},
        {0, 1, {6, 5, 3}},
        {1, 1, {5, 3, 0}}}) {
    TestModel model(14);
    addTensor(model, "x", ElementType::I32, {3}, {1, 2, 3});
    model.ints("axis", {}, {0}).node("CumSum", {"x", "axis"}, {"y"}).attribute("exclusive", exclusive);
    model.attribute("reverse", reverse).output("y");
    EXPECT_EQ(evaluatedOne(model).values, expected);
  }
}

TEST(Softmax, AxisMeansAMatrixBeforeOpset13) {
  std::vector<float> zeros(8, 0);
  for (auto [opset, expected] : {std::pair<int64_t, double>{11, 0.25}, {13, 0.5}}) {
    for (const char *op : {"Softmax", "LogSoftmax", "Hardmax"}) {
      TestModel model(opset);
      model.floats("x", {2, 2, 2}, zeros).node(op, {"x"}, {"y"}).attribute("axis", int64_t(1)).output("y");
      Tensor y = evaluatedOne(model);
      ASSERT_THAT(y.values, SizeIs(8));
      if (std::string(op) == "Softmax")
        EXPECT_NEAR(y.values[7], expected, 1e-6);
      else if (std::string(op) == "LogSoftmax")
        EXPECT_NEAR(y.values[7], std::log(expected), 1e-6);
      else // the first of all in the row, or of each column
        EXPECT_THAT(y.values,
                    opset < 13 ? ElementsAre(1, 0, 0, 0, 1, 0, 0, 0) : ElementsAre(1, 1, 0, 0, 1, 1, 0, 0));
    }
  }
}

} // namespace
