// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Normalisations of opsets 14 to 23 against plain loops.
#include "test/unit/frontend/Evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

using namespace autotune;
using namespace autotune::test;
using testing::HasSubstr;
using testing::SizeIs;

namespace {

struct Statistics {
  double mean = 0, variance = 0;
};

Statistics statistics(const std::vector<double> &values) {
  Statistics s;
  for (double v : values)
    s.mean += v / values.size();
  for (double v : values)
    s.variance += (v - s.mean) * (v - s.mean) / values.size();
  return s;
}

TEST(GroupNormalization, ScalesGroupsBeforeOpset21AndChannelsFromThen) {
  std::vector<double> x = someNumbers(2 * 4 * 3);
  for (int64_t opset : {18, 21, 23}) {
    bool each = opset >= 21;
    std::vector<double> scale = each ? std::vector<double>{1, 2, 3, 4} : std::vector<double>{2, -1};
    std::vector<double> bias = each ? std::vector<double>{0, 1, 0, -1} : std::vector<double>{0.5, 0};
    TestModel model(opset);
    addTensor(model, "x", ElementType::F64, {2, 4, 3}, x);
    addTensor(model, "scale", ElementType::F64, {int64_t(scale.size())}, scale);
    addTensor(model, "bias", ElementType::F64, {int64_t(bias.size())}, bias);
    model.node("GroupNormalization", {"x", "scale", "bias"}, {"y"}).attribute("num_groups", int64_t(2));
    model.attribute("epsilon", 0.25f).output("y");
    Tensor y = evaluatedOne(model);
    ASSERT_THAT(y.values, SizeIs(24));
    for (int n = 0; n < 2; ++n)
      for (int c = 0; c < 4; ++c) {
        int group = c / 2, parameter = each ? c : group;
        auto start = x.begin() + (n * 4 + group * 2) * 3;
        Statistics s = statistics({start, start + 6});
        for (int i = 0; i < 3; ++i) {
          int at = (n * 4 + c) * 3 + i;
          EXPECT_NEAR(y.values[at],
                      (x[at] - s.mean) / std::sqrt(s.variance + 0.25) * scale[parameter] + bias[parameter],
                      1e-9)
              << opset;
        }
      }
  }
}

TEST(LayerNormalization, AllOutputsAndABroadcastScale) {
  std::vector<double> x = someNumbers(12);
  TestModel model(17);
  addTensor(model, "x", ElementType::F32, {2, 2, 3}, x);
  addTensor(model, "scale", ElementType::F32, {3}, {1, 2, 0.5});
  model.node("LayerNormalization", {"x", "scale"}, {"y", "mean", "inverse"}).attribute("axis", int64_t(1));
  model.attribute("epsilon", 0.5f).output("y").output("mean").output("inverse");
  std::vector<Tensor> results = evaluated(model);
  ASSERT_THAT(results, SizeIs(3));
  EXPECT_EQ(results[1].shape, (std::vector<int64_t>{2, 1, 1}));
  for (int n = 0; n < 2; ++n) {
    Statistics s = statistics({x.begin() + n * 6, x.begin() + n * 6 + 6});
    EXPECT_NEAR(results[1].values[n], s.mean, 1e-6);
    EXPECT_NEAR(results[2].values[n], 1 / std::sqrt(s.variance + 0.5), 1e-6);
    for (int i = 0; i < 6; ++i)
      EXPECT_NEAR(results[0].values[n * 6 + i],
                  (x[n * 6 + i] - s.mean) / std::sqrt(s.variance + 0.5) *
                      (i % 3 == 0   ? 1
                       : i % 3 == 1 ? 2
                                    : 0.5),
                  1e-5);
  }
}

TEST(RMSNormalization, DividesByTheRootOfTheMeanSquare) {
  std::vector<double> x = someNumbers(12);
  for (ElementType type : {ElementType::F64, ElementType::F32, ElementType::F16}) {
    TestModel model(23);
    addTensor(model, "x", type, {3, 2, 2}, x);
    addTensor(model, "scale", type, {2, 2}, {1, -1, 2, 0.5});
    model.node("RMSNormalization", {"x", "scale"}, {"y"})
        .attribute("axis", int64_t(-2))
        .attribute("epsilon", 0.25f);
    model.output("y");
    Tensor y = evaluatedOne(model);
    EXPECT_EQ(y.type, type);
    ASSERT_THAT(y.values, SizeIs(12));
    const double scale[] = {1, -1, 2, 0.5};
    for (int row = 0; row < 3; ++row) {
      double squares = 0;
      for (int i = 0; i < 4; ++i)
        squares += x[row * 4 + i] * x[row * 4 + i] / 4;
      for (int i = 0; i < 4; ++i)
        EXPECT_NEAR(y.values[row * 4 + i], x[row * 4 + i] / std::sqrt(squares + 0.25) * scale[i],
                    type == ElementType::F16 ? 4e-3 : 1e-6);
    }
  }
}

TEST(BatchNormalization, TrainingMovesTheRunningStatistics) {
  std::vector<double> x = someNumbers(12);
  TestModel model(15);
  addTensor(model, "x", ElementType::F32, {2, 2, 3}, x);
  model.floats("scale", {2}, {1, 2})
      .floats("bias", {2}, {0, -1})
      .floats("mean", {2}, {4, 8})
      .floats("var", {2}, {1, 2});
  model.node("BatchNormalization", {"x", "scale", "bias", "mean", "var"}, {"y", "m", "v"});
  model.attribute("training_mode", int64_t(1)).attribute("momentum", 0.75f).attribute("epsilon", 0.5f);
  model.output("y").output("m").output("v");
  std::vector<Tensor> results = evaluated(model);
  ASSERT_THAT(results, SizeIs(3));
  for (int c = 0; c < 2; ++c) {
    std::vector<double> own;
    for (int n = 0; n < 2; ++n)
      own.insert(own.end(), x.begin() + (n * 2 + c) * 3, x.begin() + (n * 2 + c) * 3 + 3);
    Statistics s = statistics(own);
    EXPECT_NEAR(results[1].values[c], (c ? 8 : 4) * 0.75 + s.mean * 0.25, 1e-5);
    EXPECT_NEAR(results[2].values[c], (c ? 2 : 1) * 0.75 + s.variance * 0.25, 1e-5);
    EXPECT_NEAR(results[0].values[c * 3],
                (own[0] - s.mean) / std::sqrt(s.variance + 0.5) * (c ? 2 : 1) - (c ? 1 : 0), 1e-5);
  }
}

TEST(BatchNormalization, ParametersMayBeOfAnotherFloatType) {
  TestModel model(15);
  addTensor(model, "x", ElementType::F16, {1, 1, 2}, {3, 5});
  model.floats("scale", {1}, {2}).floats("bias", {1}, {1}).floats("mean", {1}, {3}).floats("var", {1}, {4});
  model.node("BatchNormalization", {"x", "scale", "bias", "mean", "var"}, {"y"})
      .attribute("epsilon", 0.0f)
      .output("y");
  EXPECT_THAT(evaluatedOne(model).values, testing::ElementsAre(1, 3));
}

TEST(LpNormalization, ZerosStayZeros) {
  for (int64_t p : {1, 2}) {
    TestModel model(22);
    model.floats("x", {2, 2}, {0, 0, 3, -4})
        .node("LpNormalization", {"x"}, {"y"})
        .attribute("p", p)
        .output("y");
    Tensor y = evaluatedOne(model);
    ASSERT_THAT(y.values, SizeIs(4));
    EXPECT_EQ(y.values[0], 0);
    EXPECT_NEAR(y.values[3], p == 1 ? -4.0 / 7 : -0.8, 1e-6);
  }
}

TEST(Dropout, TrainingThatDropsIsRandom) {
  TestModel keeps(13);
  keeps.floats("x", {2}, {1, 2}).floats("ratio", {}, {0});
  addTensor(keeps, "train", ElementType::Bool, {}, {1});
  keeps.node("Dropout", {"x", "ratio", "train"}, {"y", "mask"}).output("y").output("mask");
  std::vector<Tensor> results = evaluated(keeps);
  ASSERT_THAT(results, SizeIs(2));
  EXPECT_THAT(results[0].values, testing::ElementsAre(1, 2));
  EXPECT_EQ(results[1].type, ElementType::Bool);
  TestModel drops(13);
  drops.floats("x", {2}, {1, 2}).floats("ratio", {}, {0.5});
  addTensor(drops, "train", ElementType::Bool, {}, {1});
  drops.node("Dropout", {"x", "ratio", "train"}, {"y"}).output("y");
  EXPECT_THAT(imported(drops), HasSubstr("Dropout_node' (Dropout): training mode drops elements at random"));
}

TEST(Dropout, TheMaskHasTheTypeOfTheDataBeforeOpset10) {
  TestModel model(7);
  model.floats("x", {2}, {1, 2}).node("Dropout", {"x"}, {"y", "mask"}).output("y").output("mask");
  std::vector<Tensor> results = evaluated(model);
  ASSERT_THAT(results, SizeIs(2));
  EXPECT_EQ(results[1].type, ElementType::F32);
  EXPECT_THAT(results[1].values, testing::ElementsAre(1, 1));
}

} // namespace
