// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// com.microsoft's normalisations against plain loops.
#include "test/unit/frontend/KnownModel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

using namespace autotune;
using namespace autotune::test;
using testing::HasSubstr;

namespace {

struct Statistics {
  double mean = 0, inverse = 0;
};

/// Over the elements i for which `in` is true.
template <typename Predicate>
Statistics statisticsOf(const std::vector<double> &x, double epsilon, bool centers, Predicate in) {
  double sum = 0, squares = 0, count = 0;
  for (size_t i = 0; i < x.size(); ++i)
    if (in(i)) {
      sum += x[i];
      ++count;
    }
  Statistics result;
  result.mean = centers ? sum / count : 0;
  for (size_t i = 0; i < x.size(); ++i)
    if (in(i))
      squares += (x[i] - result.mean) * (x[i] - result.mean);
  result.inverse = 1 / std::sqrt(squares / count + epsilon);
  return result;
}

void expectClose(const Numbers &found, const std::vector<double> &expected, double tolerance = 2e-6) {
  ASSERT_EQ(found.values.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(found.values[i], expected[i], tolerance * std::max(1.0, std::abs(expected[i])))
        << "element " << i;
}

/// Rows of 4 normalised, scaled and shifted.
std::vector<double> normalizedRows(const std::vector<double> &x, const std::vector<double> &gamma,
                                   const std::vector<double> &beta, double epsilon, bool centers) {
  std::vector<double> y;
  for (size_t i = 0; i < x.size(); ++i) {
    Statistics s = statisticsOf(x, epsilon, centers, [&](size_t k) { return k / 4 == i / 4; });
    y.push_back((x[i] - s.mean) * s.inverse * gamma[i % 4] + (beta.empty() ? 0 : beta[i % 4]));
  }
  return y;
}

const std::vector<double> kGamma = {0.5, 1, -2, 3}, kBeta = {1, 0, -1, 0.25}, kBias = {0.5, -0.5, 0.125, 2};

TEST(SkipNormalization, AddsSkipAndBiasBeforeNormalizing) {
  // A skip for each batch, and one that all batches share.
  for (std::vector<int64_t> skipShape : {std::vector<int64_t>{2, 3, 4}, {1, 3, 4}, {3, 4}}) {
    size_t skipCount = skipShape.size() == 3 && skipShape[0] == 2 ? 24 : 12;
    std::vector<double> x = fractions(24), skip = fractions(skipCount, 2), sum;
    for (size_t i = 0; i < 24; ++i)
      sum.push_back(x[i] + skip[i % skipCount] + kBias[i % 4]);
    KnownModel model;
    model.tensor("x", {ElementType::F32, {2, 3, 4}, x}).tensor("skip", {ElementType::F32, skipShape, skip});
    model.tensor("gamma", {ElementType::F32, {4}, kGamma}).tensor("beta", {ElementType::F32, {4}, kBeta});
    model.tensor("bias", {ElementType::F32, {4}, kBias});
    model.microsoft("SkipLayerNormalization", {"x", "skip", "gamma", "beta", "bias"},
                    {"y", "mean", "inverse", "sum"});
    model.attribute("epsilon", 1e-3f).output("y").output("mean").output("inverse").output("sum");
    std::vector<Numbers> found = model.evaluate();
    expectClose(found[0], normalizedRows(sum, kGamma, kBeta, 1e-3, /*centers=*/true));
    expectClose(found[3], sum);
    std::vector<double> means, inverses;
    for (size_t row = 0; row < 6; ++row) {
      Statistics s = statisticsOf(sum, 1e-3, true, [&](size_t k) { return k / 4 == row; });
      means.push_back(s.mean);
      inverses.push_back(s.inverse);
    }
    EXPECT_EQ(found[1].shape, (std::vector<int64_t>{2, 3, 1}));
    expectClose(found[1], means);
    expectClose(found[2], inverses);
  }
}

TEST(SkipNormalization, SimplifiedFormsDoNotCentre) {
  std::vector<double> x = fractions(12), skip = fractions(12, 2), sum;
  for (size_t i = 0; i < 12; ++i)
    sum.push_back(x[i] + skip[i] + kBias[i % 4]);
  KnownModel model;
  model.tensor("x", {ElementType::F32, {3, 4}, x}).tensor("skip", {ElementType::F32, {3, 4}, skip});
  model.tensor("gamma", {ElementType::F32, {4}, kGamma}).tensor("bias", {ElementType::F32, {4}, kBias});
  model.microsoft("SkipSimplifiedLayerNormalization", {"x", "skip", "gamma", "bias"}, {"y", "", "", "sum"});
  model.attribute("epsilon", 1e-3f).node("SimplifiedLayerNormalization", {"x", "gamma"}, {"plain"});
  model.microsoft("SimplifiedLayerNormalization", {"x", "gamma"}, {"other"}).attribute("axis", int64_t(1));
  model.output("y").output("sum").output("plain").output("other");
  std::vector<Numbers> found = model.evaluate();
  expectClose(found[0], normalizedRows(sum, kGamma, {}, 1e-3, /*centers=*/false));
  expectClose(found[1], sum);
  expectClose(found[2], normalizedRows(x, kGamma, {}, 1e-5, /*centers=*/false));
  EXPECT_EQ(found[3].values, found[2].values);
}

TEST(SkipNormalization, HalfTypesSumInSinglePrecision) {
  std::vector<double> x = fractions(8), skip = fractions(8, 2), sum;
  for (size_t i = 0; i < 8; ++i)
    sum.push_back(x[i] + skip[i]);
  KnownModel model;
  model.tensor("x", {ElementType::F16, {2, 4}, x}).tensor("skip", {ElementType::F16, {2, 4}, skip});
  model.tensor("gamma", {ElementType::F16, {4}, kGamma});
  model.microsoft("SkipLayerNormalization", {"x", "skip", "gamma"}, {"y"}).output("y");
  Numbers y = model.result();
  EXPECT_EQ(y.type, ElementType::F16);
  expectClose(y, normalizedRows(sum, kGamma, {}, 1e-12, true), 5e-4);
}

TEST(SkipNormalization, EmbeddingsAreGatheredSummedAndNormalized) {
  std::vector<double> words = fractions(20), positions = fractions(16, 2), segments = fractions(8, 3), sum;
  std::vector<double> ids = {4, 0, 2, 2, 3, 1}, segmentIds = {0, 0, 1, 1, 0, 1},
                      positionIds = {3, 2, 1, 0, 1, 2};
  for (bool explicitPositions : {false, true}) {
    sum.clear();
    for (size_t i = 0; i < 24; ++i) {
      double position = explicitPositions ? positionIds[i / 4] : i / 4 % 3;
      sum.push_back(words[ids[i / 4] * 4 + i % 4] + positions[position * 4 + i % 4] +
                    segments[segmentIds[i / 4] * 4 + i % 4]);
    }
    KnownModel model;
    model.tensor("ids", {ElementType::I32, {2, 3}, ids})
        .tensor("segments", {ElementType::I32, {2, 3}, segmentIds});
    model.tensor("w", {ElementType::F32, {5, 4}, words}).tensor("p", {ElementType::F32, {4, 4}, positions});
    model.tensor("s", {ElementType::F32, {2, 4}, segments}).tensor("gamma", {ElementType::F32, {4}, kGamma});
    model.tensor("beta", {ElementType::F32, {4}, kBeta})
        .tensor("mask", {ElementType::I32, {2, 3}, {1, 1, 0, 1, 1, 1}});
    model.tensor("at", {ElementType::I32, {2, 3}, positionIds});
    std::vector<std::string> inputs = {"ids", "segments", "w", "p", "s", "gamma", "beta", "mask"};
    if (explicitPositions)
      inputs.push_back("at");
    model.microsoft("EmbedLayerNormalization", inputs, {"y", "lengths", "sum"}).attribute("epsilon", 1e-3f);
    model.output("y").output("lengths").output("sum");
    std::vector<Numbers> found = model.evaluate();
    expectClose(found[0], normalizedRows(sum, kGamma, kBeta, 1e-3, true));
    EXPECT_EQ(found[1].type, ElementType::I32);
    EXPECT_EQ(found[1].values, (std::vector<double>{2, 3}));
    expectClose(found[2], sum);
  }
}

TEST(SkipNormalization, GroupsOfChannelsInEitherLayoutWithSiLU) {
  std::vector<double> x = fractions(2 * 4 * 3 * 2), y(x.size());
  for (bool channelsLast : {false, true})
    for (int64_t activation : {0, 1}) {
      auto channel = [&](size_t i) { return channelsLast ? i % 4 : i / 6 % 4; };
      for (size_t i = 0; i < x.size(); ++i) {
        auto together = [&](size_t k) { return k / 24 == i / 24 && channel(k) / 2 == channel(i) / 2; };
        Statistics s = statisticsOf(x, 1e-3, true, together);
        double value = (x[i] - s.mean) * s.inverse * kGamma[channel(i)] + kBeta[channel(i)];
        y[i] = activation ? value / (1 + std::exp(-value)) : value;
      }
      KnownModel model;
      std::vector<int64_t> shape =
          channelsLast ? std::vector<int64_t>{2, 3, 2, 4} : std::vector<int64_t>{2, 4, 3, 2};
      model.tensor("x", {ElementType::F32, shape, x}).tensor("gamma", {ElementType::F32, {4}, kGamma});
      model.tensor("beta", {ElementType::F32, {4}, kBeta})
          .microsoft("GroupNorm", {"x", "gamma", "beta"}, {"y"});
      model.attribute("groups", int64_t(2)).attribute("activation", activation).attribute("epsilon", 1e-3f);
      model.attribute("channels_last", int64_t(channelsLast)).output("y");
      expectClose(model.result(), y);
    }
}

TEST(SkipNormalization, SkipGroupNormAddsOneValueForEachChannel) {
  std::vector<double> x = fractions(24), skip = {1, -2, 0.5, 3}, sum, y;
  for (size_t i = 0; i < 24; ++i)
    sum.push_back(x[i] + skip[i % 4] + kBias[i % 4]);
  for (size_t i = 0; i < 24; ++i) {
    Statistics s = statisticsOf(sum, 1e-5, true, [&](size_t k) { return k % 4 / 2 == i % 4 / 2; });
    y.push_back((sum[i] - s.mean) * s.inverse * kGamma[i % 4] + kBeta[i % 4]);
  }
  KnownModel model;
  model.tensor("x", {ElementType::F32, {1, 3, 2, 4}, x}).tensor("gamma", {ElementType::F32, {4}, kGamma});
  model.tensor("beta", {ElementType::F32, {4}, kBeta}).tensor("skip", {ElementType::F32, {1, 4}, skip});
  model.tensor("bias", {ElementType::F32, {4}, kBias});
  model.microsoft("SkipGroupNorm", {"x", "gamma", "beta", "skip", "bias"}, {"y", "sum"});
  model.attribute("groups", int64_t(2)).attribute("activation", int64_t(0)).output("y").output("sum");
  std::vector<Numbers> found = model.evaluate();
  expectClose(found[0], y, 1e-5);
  expectClose(found[1], sum);
}

TEST(SkipNormalization, WrongShapesAreNamed) {
  KnownModel model;
  model.tensor("x", {ElementType::F32, {2, 3}, fractions(6)}).tensor("g", {ElementType::F32, {2}, {1, 1}});
  model.microsoft("SkipLayerNormalization", {"x", "x", "g"}, {"y"}).output("y");
  EXPECT_THAT(imported(model), HasSubstr("input 2 is f32 of shape 2, expected 3 floats"));
  KnownModel tables;
  tables.tensor("ids", {ElementType::I32, {1, 2}, {0, 1}})
      .tensor("w", {ElementType::F32, {2, 2}, fractions(4)});
  tables.tensor("p", {ElementType::F32, {1, 2}, fractions(2)}).tensor("g", {ElementType::F32, {2}, {1, 1}});
  tables.microsoft("EmbedLayerNormalization", {"ids", "", "w", "p", "", "g", "g"}, {"y", "m"}).output("y");
  EXPECT_THAT(imported(tables), HasSubstr("the position table 1x2 has too few rows for 1x2"));
}

} // namespace
