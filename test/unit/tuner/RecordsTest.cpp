// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Results become records that read back the same.
#include "tuner/Records.h"
#include "test/unit/Results.h"
#include "test/unit/schedule/TestWorkloads.h"

#include "gtest/gtest.h"

using namespace autotune;

static Comparison exampleComparison() {
  Comparison comparison;
  comparison.ratio = 1.25;
  comparison.low = 1.2;
  comparison.high = 1.3;
  comparison.first = {1000, 10, 40};
  comparison.second = {800, 8, 40};
  comparison.standard = "contraction";
  comparison.metrics = {{"max_error", 1e-7}};
  return comparison;
}

static Provenance exampleProvenance() { return {"0.1.0", {"19.1.7", 1}, "2026-11-30T08:41:06Z", 1, 0}; }

TEST(Records, OperatorResultsRoundTrip) {
  TuningTask task;
  task.workload = packedMatmul(128, 768, 768);
  task.untuned = valueOf(Schedule::parse("cache_planes=1 cache_rows=1 order=0 planes=1 rows=6 unroll=1"));
  TaskResult result;
  result.task = &task;
  result.outcome = SearchOutcome::Improved;
  result.schedule = valueOf(Schedule::parse("cache_planes=1 cache_rows=1 order=1 planes=1 rows=6 unroll=4"));
  result.comparison = exampleComparison();
  result.trials = 40;
  OperatorRecord record = operatorRecord(result, testDevice(), exampleProvenance());
  EXPECT_EQ(valueOf(parseRecord<OperatorRecord>(recordText(record))), record);
  EXPECT_EQ(record.key(), task.workload.key());
  EXPECT_EQ(record.provenance.trials, 40);
  EXPECT_EQ(record.tuned.medianNs, 800);
}

TEST(Records, SubgraphResultsRoundTrip) {
  SubgraphResult result;
  result.region = {"conv-chain", "v0 = conv2d(in0)\n", {0}};
  result.outcome = SearchOutcome::Improved;
  result.choice.channelBlock = 16;
  result.comparison = exampleComparison();
  result.alternatives = {
      {{0, ""}, Measurement{1000, 1, 5}}, {{8, ""}, Failure{"compile", "no"}}, {{16, ""}, Measurement{800, 1, 5}}};
  result.measurements = 3;
  SubgraphRecord record = subgraphRecord(result, testDevice(), exampleProvenance());
  EXPECT_EQ(valueOf(parseRecord<SubgraphRecord>(recordText(record))), record);
  EXPECT_EQ(record.alternatives.size(), 2u);
}
