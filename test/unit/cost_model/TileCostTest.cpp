// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The core model knows rests, latency and register pressure.
#include "cost_model/TileCost.h"
#include "schedule/Algorithm.h"
#include "test/unit/Results.h"
#include "test/unit/schedule/TestWorkloads.h"

#include "llvm/Support/FormatVariadic.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace autotune;
using testing::ElementsAre;
using testing::Pair;

static TileCost costOf(const Workload &workload, llvm::StringRef schedule, Isa isa = Isa::Avx2) {
  LoopNest nest = valueOf(buildLoopNest(workload, valueOf(Schedule::parse(schedule))));
  return tileCost(workload, nest, testDevice(isa));
}

static TileCost convolutionTile(int64_t channels, int64_t size, int rows, int planes) {
  return costOf(
      blockedConvolution(channels, channels, size, 3),
      llvm::formatv("cache_planes=1 cache_rows=1 order=0 planes={0} rows={1} unroll=8", planes, rows).str());
}

TEST(CutBlocks, RestsOfEveryLevelAreCounted) {
  EXPECT_THAT(cutBlocks(14, {5}), ElementsAre(Pair(5, 2), Pair(4, 1)));
  EXPECT_THAT(cutBlocks(100, {30, 12, 6}), ElementsAre(Pair(6, 16), Pair(4, 1)));
  EXPECT_THAT(cutBlocks(7, {}), ElementsAre(Pair(7, 1)));
  EXPECT_THAT(cutBlocks(7, {14, 7}), ElementsAre(Pair(7, 1)));
}

TEST(TileCost, AGoodTileIsNearTheArithmeticBound) {
  TileCost cost = convolutionTile(64, 12, 6, 2);
  EXPECT_LT(cost.cycles, 1.08 * cost.arithmeticCycles);
  EXPECT_EQ(cost.accumulators, 12);
  EXPECT_EQ(cost.spilled, 0);
  EXPECT_EQ(cost.fullTileShare, 1);
  EXPECT_EQ(cost.tiles, 12 * 2 * 4);
}

TEST(TileCost, FewAccumulatorsWaitForTheLatency) {
  TileCost cost = convolutionTile(64, 12, 2, 1);
  EXPECT_GT(cost.cycles, 3.5 * cost.arithmeticCycles);
  EXPECT_GT(cost.latencyCycles, 0.4 * cost.cycles);
}

TEST(TileCost, BalancedRestsBeatLargeTilesWithASmallRest) {
  EXPECT_LT(convolutionTile(64, 14, 5, 2).cycles,
            convolutionTile(64, 14, 6, 2).cycles); // 5+5+4 against 6+6+2
  EXPECT_LT(convolutionTile(64, 28, 6, 2).cycles, convolutionTile(64, 28, 3, 2).cycles);
}

TEST(TileCost, SpillsCost) {
  TileCost fits = convolutionTile(64, 24, 6, 2), spills = convolutionTile(64, 24, 12, 2);
  EXPECT_GT(spills.spilled, 0);
  EXPECT_GT(spills.cycles, fits.cycles);
}

TEST(TileCost, TransposedTilesAreSquare) {
  Workload transpose = transposition(12, 128, 32);
  EXPECT_LT(costOf(transpose, "cols=8 rows=8").cycles, costOf(transpose, "cols=8 rows=1").cycles / 2);
}

TEST(TileCost, UnrollingAWindowSharesItsLoads) {
  Workload depthwise = depthwiseConvolution(96, 112);
  EXPECT_LT(costOf(depthwise, "rows=6 unroll=3").loadCycles,
            0.7 * costOf(depthwise, "rows=6 unroll=1").loadCycles);
  EXPECT_EQ(costOf(depthwise, "rows=6 unroll=3").spilled, 0);
  EXPECT_EQ(costOf(depthwise, "rows=8 unroll=3").spilled, 2)
      << "eight sums, seven elements that two rows read, a weight, two temporaries, sixteen registers";
}

/// An image read as it is, 3 x 3 taps at every `stride`-th pixel: the innermost reduction runs along the
/// rows.
static Workload stem(int64_t stride) {
  Workload conv = blockedConvolution(8, 24, 16, 3, 8, 1, stride);
  conv.dims.pop_back();
  conv.inputs[0].index[4] = conv.inputs[1].index[4] = {};
  conv.inputs[0].shape[4] = conv.inputs[1].shape[4] = 1;
  return conv;
}

TEST(TileCost, UnrollingAWindowAlongTheRowsKeepsWhatTheyShare) {
  auto cost = [](int64_t stride, int unroll) {
    const char *schedule = "cache_planes=1 cache_rows=1 order=0 planes=3 rows=4 unroll={0}";
    return costOf(stem(stride), llvm::formatv(schedule, unroll).str());
  };
  EXPECT_EQ(cost(2, 1).spilled, 0);
  EXPECT_EQ(cost(2, 3).spilled, 3) << "each row's third pixel is the next row's first";
  EXPECT_EQ(cost(1, 3).spilled, 3);
  EXPECT_EQ(cost(3, 3).spilled, 0) << "rows share nothing";
  EXPECT_LT(cost(2, 1).cycles, cost(2, 3).cycles);
}

TEST(TileCost, WinogradPaysForItsTransforms) {
  BlockedConvolution shape = {
      .images = 1, .outBlocks = 8, .inBlocks = 8, .block = 8, .height = 56, .width = 56};
  Workload products = winogradProducts(shape, 4);
  TileCost cost = costOf(products, "cache_rows=2 planes=2 rows=6 unroll=8");
  double fmas = products.flops() / 2 / 8 / 2; // cycles of the products alone on two ports of eight lanes
  EXPECT_GT(cost.cycles, 1.1 * fmas);
  EXPECT_LT(cost.cycles, 2 * fmas);
  // Fewer channels share the price of a transform.
  shape.outBlocks = 1;
  TileCost narrow = costOf(winogradProducts(shape, 4), "cache_rows=2 rows=12 unroll=8");
  EXPECT_GT(8 * narrow.cycles, 1.3 * cost.cycles);
}

TEST(TileCost, AttentionWantsFullRegistersAndNoSpills) {
  Workload workload = attention(12, 128, 128, 64);
  double good = costOf(workload, "cols=128 planes=6 rows=16").cycles;
  EXPECT_LT(good, costOf(workload, "cols=128 planes=4 rows=8").cycles);
  EXPECT_LT(good, costOf(workload, "cols=128 planes=14 rows=32").cycles);
  EXPECT_LT(good, costOf(workload, "cols=64 planes=6 rows=16").cycles);
  EXPECT_LT(good, 2 * costOf(workload, "cols=128 planes=6 rows=16").arithmeticCycles);
}

TEST(TileCost, RowsOfARecurrenceShareWeightsAsFarAsRegistersGo) {
  Workload workload = recurrence(100, 8, 256);
  double good = costOf(workload, "cols=8 depth=256 rows=2").cycles;
  EXPECT_LT(good, costOf(workload, "cols=8 depth=256 rows=1").cycles);
  EXPECT_LT(good, costOf(workload, "cols=16 depth=256 rows=4").cycles);
  EXPECT_LT(good, costOf(workload, "cols=8 depth=64 rows=2").cycles) << "sums wait in memory";
  EXPECT_LT(good, 1.5 * costOf(workload, "cols=8 depth=256 rows=2").arithmeticCycles);
}

TEST(TileCost, RowsWantSeveralVectorsButNoSpills) {
  Workload workload = softmax(1536, 768);
  EXPECT_LT(costOf(workload, "cols=16").cycles, costOf(workload, "cols=64").cycles);
  workload.kind = "layer_norm";
  EXPECT_LT(costOf(workload, "cols=32").cycles, costOf(workload, "cols=16").cycles);
}
