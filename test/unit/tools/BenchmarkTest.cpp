// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/Benchmark.h"

#include <gtest/gtest.h>

using namespace autotune;

namespace {

TEST(BenchmarkTest, SummaryIsOfNearestRank) {
  std::vector<double> samples;
  for (int i = 10; i >= 1; --i)
    samples.push_back(i * 1e6);
  Latency latency = summarize(samples);
  EXPECT_DOUBLE_EQ(latency.minMs, 1);
  EXPECT_DOUBLE_EQ(latency.medianMs, 5);
  EXPECT_DOUBLE_EQ(latency.p90Ms, 9);
}

TEST(BenchmarkTest, OneSampleIsEveryStatistic) {
  Latency latency = summarize({2e6});
  EXPECT_DOUBLE_EQ(latency.minMs, 2);
  EXPECT_DOUBLE_EQ(latency.medianMs, 2);
  EXPECT_DOUBLE_EQ(latency.p90Ms, 2);
}

TEST(BenchmarkTest, JsonHasTheStableFields) {
  llvm::json::Object json = benchmarkJson("m", 2, 30, {1, 2, 3});
  EXPECT_EQ(json.getInteger("schema_version"), 1);
  EXPECT_EQ(json.getString("model"), "m");
  EXPECT_EQ(json.getInteger("threads"), 2);
  EXPECT_EQ(json.getInteger("runs"), 30);
  EXPECT_EQ(json.getObject("latency_ms")->getNumber("p90"), 3);
}

} // namespace
