// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Predictions are plausible times, rank what is known, and features are stable.
#include "cost_model/AnalyticalModel.h"
#include "cost_model/Features.h"
#include "test/unit/Results.h"
#include "test/unit/schedule/TestWorkloads.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace autotune;

static double predictedNs(const Workload &workload, llvm::StringRef text, Device device = testDevice()) {
  Schedule schedule = valueOf(Schedule::parse(text));
  CostQuery query = {&workload, &schedule};
  return AnalyticalModel(device).predict({&query, 1}).front();
}

TEST(BusiestShare, CountsChunksInTurns) {
  EXPECT_EQ(busiestShare(1, 1, 2), 1);
  EXPECT_EQ(busiestShare(8, 1, 1), 1);
  EXPECT_EQ(busiestShare(2, 1, 2), 0.5);
  EXPECT_EQ(busiestShare(3, 1, 2), 2.0 / 3);
  EXPECT_EQ(busiestShare(3, 0.5, 2), 1.5 / 2.5);
  EXPECT_EQ(busiestShare(4, 0.5, 2), 2 / 3.5);
}

TEST(AnalyticalModel, AGoodConvolutionIsPredictedNearThePeak) {
  Workload conv = blockedConvolution(64, 64, 56, 3);
  double gflops =
      conv.flops() / predictedNs(conv, "cache_planes=1 cache_rows=8 order=0 planes=2 rows=6 unroll=8");
  EXPECT_GT(gflops, 0.85 * 92);
  EXPECT_LT(gflops, 92);
}

TEST(AnalyticalModel, MeasuredPeaksScaleThePrediction) {
  Device fast = testDevice();
  fast.peaks = DevicePeaks{184, 0, 150, 48, 0};
  Workload conv = blockedConvolution(64, 64, 56, 3);
  const char *schedule = "cache_planes=1 cache_rows=8 order=0 planes=2 rows=6 unroll=8";
  EXPECT_NEAR(predictedNs(conv, schedule, fast), predictedNs(conv, schedule) / 2, 1);
}

TEST(AnalyticalModel, TwoThreadsPayForLargeKernelsOnly) {
  Workload conv = blockedConvolution(64, 64, 56, 3, 8, 2);
  const std::string rest = "cache_planes=1 cache_rows=8 chunks=4 order=0 planes=2 rows=6 unroll=8 ";
  EXPECT_GT(predictedNs(conv, rest + "parallel=0") / predictedNs(conv, rest + "parallel=1"), 1.8);
  Workload tiny = elementwise(4, 64, 2);
  EXPECT_LT(predictedNs(tiny, "chunks=2 cols=32 parallel=0 rows=1"),
            predictedNs(tiny, "chunks=2 cols=32 parallel=1 rows=1"));
}

TEST(AnalyticalModel, WideTilesOfOneRowAreBetterThanNarrowOnes) {
  Workload vector = plainMatmul(1, 1024, 2048);
  EXPECT_LT(predictedNs(vector, "cols=64 unroll=4"), predictedNs(vector, "cols=8 unroll=4"));
}

TEST(Features, OneFiniteValueForEachName) {
  for (const Workload &workload : testWorkloads(2)) {
    Space space = buildSpace(workload, testDevice());
    Schedule schedule;
    for (const Knob &knob : space.knobs)
      schedule.knobs[knob.name] = knob.values.back();
    if (!space.contains(workload, schedule))
      for (const Knob &knob : space.knobs)
        schedule.knobs[knob.name] = knob.values.front();
    std::vector<float> features =
        extractFeatures(workload, valueOf(buildLoopNest(workload, schedule)), testDevice());
    ASSERT_EQ(features.size(), featureNames().size());
    for (size_t i = 0; i < features.size(); ++i)
      EXPECT_TRUE(std::isfinite(features[i])) << featureNames()[i].str() << "\n" << workload.text();
  }
}

TEST(Features, NamesArePinnedToTheVersion) {
  std::string names;
  for (llvm::StringRef name : featureNames())
    names += name.str() + "\n";
  EXPECT_EQ(std::to_string(kFeatureVersion) + ":" + hashText(names), "1:8725ebc996919ca2")
      << "other features need another kFeatureVersion";
}
