// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Traffic follows from what fits where.
#include "cost_model/Footprint.h"
#include "test/unit/Results.h"
#include "test/unit/schedule/TestWorkloads.h"

#include "gtest/gtest.h"

using namespace autotune;

static Traffic trafficOf(const Workload &workload, llvm::StringRef schedule) {
  LoopNest nest = valueOf(buildLoopNest(workload, valueOf(Schedule::parse(schedule))));
  return nestTraffic(workload, nest, testDevice());
}

TEST(Footprint, WhatFitsL1IsLoadedOnce) {
  Traffic traffic =
      trafficOf(packedMatmul(16, 64, 64), "cache_planes=1 cache_rows=1 order=0 planes=1 rows=6 unroll=1");
  double input = 16 * 64 * 4, weights = 64 * 64 * 4, output = 2 * 16 * 64 * 4;
  EXPECT_EQ(traffic.intoL1, input + weights + output);
  EXPECT_EQ(traffic.intoL3, weights) << "weights are cold, activations are in L2";
  EXPECT_EQ(traffic.workingSet, input + weights + output / 2);
}

TEST(Footprint, CacheBlocksSaveTrafficIntoL2) {
  Workload large = packedMatmul(1536, 1536, 1536);
  const char *unblocked = "cache_planes=1 cache_rows=1 order=0 planes=1 rows=6 unroll=1";
  const char *blocked = "cache_planes=1 cache_rows=64 order=1 planes=1 rows=6 unroll=1";
  EXPECT_LT(trafficOf(large, blocked).intoL2, 0.5 * trafficOf(large, unblocked).intoL2);
}

TEST(Footprint, SlidingWindowsShareTheirRows) {
  Workload conv = blockedConvolution(64, 64, 56, 3);
  Traffic traffic = trafficOf(conv, "cache_planes=8 cache_rows=1 order=0 planes=2 rows=6 unroll=1");
  double input = 64 * 58 * 58 * 4, weights = 64 * 64 * 9 * 4, output = 2 * 64 * 56 * 56 * 4;
  EXPECT_LT(traffic.intoL2, 1.1 * (input + weights + output))
      << "three rows overlap, they are not loaded three times";
}

TEST(Footprint, EveryStepOfARecurrenceReadsItsWeightsAgain) {
  double weights = 4 * 128 * 128 * 4;
  Traffic traffic = trafficOf(recurrence(100, 1, 128), "cols=16");
  EXPECT_GE(traffic.intoL1, 100 * weights);
  EXPECT_LT(traffic.intoL2, 3 * weights) << "they stay in L2";
  EXPECT_GE(trafficOf(recurrence(100, 1, 512), "cols=16").intoL2, 100 * 16 * weights) << "these do not";
  Workload rows = recurrence(100, 8, 256);
  EXPECT_LT(3 * trafficOf(rows, "cols=8 depth=128 rows=2").intoL1,
            trafficOf(rows, "cols=8 depth=256 rows=2").intoL1)
      << "half of a tile's weights serve all rows from L1";
}

TEST(Footprint, RowsAtAPowerOfTwoCollide) {
  const char *schedule = "cache_planes=512 cache_rows=512 cols=16 order=1 rows=6 unroll=1";
  Workload collides = plainMatmul(96, 1024, 1024), spreads = plainMatmul(96, 1040, 1024);
  EXPECT_GT(trafficOf(collides, schedule).intoL2, 2 * trafficOf(spreads, schedule).intoL2);
}

TEST(Footprint, ATileOfMoreRowsThanWaysEvictsItsOwnLines) {
  const char *tall = "cache_planes=512 cache_rows=512 cols=8 order=1 rows=12 unroll=1";
  const char *flat = "cache_planes=512 cache_rows=512 cols=16 order=1 rows=6 unroll=1";
  Workload collides = plainMatmul(96, 1024, 1024), spreads = plainMatmul(96, 1024, 1040);
  EXPECT_GT(trafficOf(collides, tall).evictedL1, 0);
  EXPECT_EQ(trafficOf(collides, flat).evictedL1, 0);
  EXPECT_EQ(trafficOf(spreads, tall).evictedL1, 0);
}
