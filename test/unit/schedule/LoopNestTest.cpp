// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Knobs become the loops that their names promise, and nothing else is accepted.
#include "schedule/LoopNest.h"
#include "schedule/LoopRoles.h"
#include "test/unit/Results.h"
#include "test/unit/schedule/TestWorkloads.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace autotune;
using testing::ElementsAre;
using testing::HasSubstr;

static LoopNest nestOf(const Workload &workload, llvm::StringRef schedule) {
  return valueOf(buildLoopNest(workload, valueOf(Schedule::parse(schedule))));
}

static std::string faultOf(const Workload &workload, llvm::StringRef schedule) {
  return messageOf(buildLoopNest(workload, valueOf(Schedule::parse(schedule))));
}

TEST(LoopRoles, BlockedConvolutionHasRowsAlongOwAndPlanesOfOutputChannels) {
  LoopRoles roles = loopRoles(blockedConvolution(64, 64, 56, 3));
  EXPECT_EQ(roles.form, NestForm::Contraction);
  EXPECT_EQ(roles.vector, 4);
  EXPECT_EQ(roles.row, 2);
  EXPECT_EQ(roles.plane, 3);
  EXPECT_THAT(roles.outerRows, ElementsAre(1));
  EXPECT_FALSE(roles.tiledVector);
}

TEST(LoopRoles, PlainConvolutionBroadcastsTheWeights) {
  LoopRoles roles = loopRoles(plainConvolution(3, 64, 112, 7));
  EXPECT_EQ(roles.broadcastInput, 1);
  EXPECT_EQ(roles.vector, 3);
  EXPECT_EQ(roles.row, 1);
  EXPECT_EQ(roles.plane, 2);
  EXPECT_TRUE(roles.tiledVector);
}

TEST(LoopRoles, BatchedMatmulSharesTheBatchLoop) {
  Workload w = plainMatmul(128, 64, 32, 2);
  w.dims.insert(w.dims.begin(), {12, false});
  w.inputs = {operand({12, 128, 32}, {{{0, 1}}, {{1, 1}}, {{3, 1}}}),
              operand({12, 32, 64}, {{{0, 1}}, {{3, 1}}, {{2, 1}}})};
  w.output = operand({12, 128, 64}, {{{0, 1}}, {{1, 1}}, {{2, 1}}});
  LoopRoles roles = loopRoles(w);
  EXPECT_THAT(roles.batch, ElementsAre(0));
  EXPECT_THAT(roles.parallelDims(), ElementsAre(1, 2, 0));
}

TEST(LoopRoles, SumsAlongMemoryAreWholeAndLongOnesAreLoops) {
  EXPECT_EQ(loopRoles(rowSum(128, 384)).form, NestForm::RowReduction);
  EXPECT_EQ(loopRoles(rowSum(4, 100000)).form, NestForm::Window);
  EXPECT_EQ(loopRoles(softmax(4, 100000)).form, NestForm::Rows);
  EXPECT_EQ(loopRoles(attention(12, 128, 128, 64)).form, NestForm::Attention);
  EXPECT_EQ(loopRoles(recurrence(100, 8, 128)).form, NestForm::Recurrence);
}

TEST(LoopRoles, TranspositionTilesTheLoopAlongTheInput) {
  LoopRoles roles = loopRoles(transposition(12, 128, 32));
  EXPECT_EQ(roles.vector, 2);
  EXPECT_EQ(roles.row, 1);
  EXPECT_THAT(roles.batch, ElementsAre(0));
}

TEST(LoopNest, BlockedConvolutionRowLoopsOutside) {
  LoopNest nest = nestOf(blockedConvolution(64, 64, 56, 3),
                         "cache_planes=2 cache_rows=8 order=0 planes=2 rows=6 unroll=4");
  EXPECT_THAT(nest.tiles,
              ElementsAre(TileLoop{1, 8}, TileLoop{3, 4}, TileLoop{1, 1}, TileLoop{2, 6}, TileLoop{3, 2}));
  EXPECT_THAT(nest.reductions, ElementsAre(ReductionLoop{5, 1}, ReductionLoop{6, 1}, ReductionLoop{7, 1},
                                           ReductionLoop{8, 4}));
  EXPECT_THAT(nest.registerTile(blockedConvolution(64, 64, 56, 3)), ElementsAre(1, 1, 6, 2, 8));
  EXPECT_FALSE(nest.parallel);
}

TEST(LoopNest, BlockedConvolutionPlaneLoopsOutside) {
  LoopNest nest = nestOf(blockedConvolution(64, 64, 56, 3),
                         "cache_planes=1 cache_rows=8 order=1 planes=2 rows=6 unroll=1");
  EXPECT_THAT(nest.tiles, ElementsAre(TileLoop{3, 2}, TileLoop{1, 8}, TileLoop{1, 1}, TileLoop{2, 6}));
}

TEST(LoopNest, PlainMatmulCutsRowsAndColumnsInRegisterTiles) {
  LoopNest nest =
      nestOf(plainMatmul(512, 512, 512), "cache_planes=4 cache_rows=8 cols=16 order=0 rows=6 unroll=1");
  EXPECT_THAT(nest.tiles, ElementsAre(TileLoop{0, 48}, TileLoop{1, 64}, TileLoop{0, 6}, TileLoop{1, 16}));
}

TEST(LoopNest, LoopsThatCutNothingAreLeftOut) {
  LoopNest nest =
      nestOf(packedMatmul(8, 64, 32), "cache_planes=64 cache_rows=64 order=0 planes=2 rows=8 unroll=8");
  EXPECT_THAT(nest.tiles, ElementsAre(TileLoop{1, 2}));
}

TEST(LoopNest, ParallelChunksAreWholeRegisterTiles) {
  Workload matmul = plainMatmul(100, 512, 512, 2);
  LoopNest nest =
      nestOf(matmul, "cache_planes=512 cache_rows=512 chunks=4 cols=16 order=0 parallel=1 rows=6 unroll=1");
  EXPECT_TRUE(nest.parallel);
  EXPECT_EQ(nest.tiles.front(), (TileLoop{0, 30}));
  EXPECT_EQ(nest.chunks(matmul), 4);
}

TEST(LoopNest, OneChunkIsNotParallel) {
  Workload small = elementwise(2, 4, 2);
  LoopNest nest = nestOf(small, "chunks=2 parallel=1 rows=2");
  EXPECT_FALSE(nest.parallel);
  EXPECT_EQ(nest.chunks(small), 1);
}

TEST(LoopNest, RowSumsHaveNoReductionLoops) {
  LoopNest nest = nestOf(rowSum(128, 384), "rows=2");
  EXPECT_TRUE(nest.reductions.empty());
  EXPECT_THAT(nest.tiles, ElementsAre(TileLoop{0, 2}));
}

TEST(LoopNest, KnobErrorsNameTheKnob) {
  Workload w = packedMatmul(128, 768, 768);
  EXPECT_THAT(faultOf(w, "rows=6"), HasSubstr("found no knob 'cache_planes'"));
  std::string good = "cache_planes=1 cache_rows=1 order=0 planes=1 rows=6 unroll=1";
  EXPECT_EQ(faultOf(w, good), "");
  EXPECT_THAT(faultOf(w, good + " magic=1"), HasSubstr("found knob 'magic'"));
  for (auto [from, to] : {std::pair{"order=0", "order=2"},
                          {"rows=6", "rows=0"},
                          {"rows=6", "rows=129"},
                          {" planes=1", " planes=49"},
                          {"unroll=1", "unroll=7"},
                          {"rows=6", "rows=9999999999"}}) {
    std::string bad = good;
    bad.replace(bad.find(from), strlen(from), to);
    EXPECT_NE(faultOf(w, bad), "") << to;
  }
}

TEST(LoopNest, VerifyRefusesWhatCannotBeEmitted) {
  Workload w = packedMatmul(128, 768, 768);
  LoopNest good = nestOf(w, "cache_planes=1 cache_rows=1 order=0 planes=2 rows=6 unroll=1");
  EXPECT_EQ(messageOf(good.verify(w)), "");
  auto fault = [&](auto change) {
    LoopNest nest = good;
    change(nest);
    return messageOf(nest.verify(w));
  };
  EXPECT_THAT(fault([](LoopNest &n) { n.tiles.push_back({9, 1}); }), HasSubstr("found dim 9"));
  EXPECT_THAT(fault([](LoopNest &n) { n.tiles.push_back({3, 1}); }), HasSubstr("found reduction dim 3"));
  EXPECT_THAT(fault([](LoopNest &n) { n.tiles.push_back({0, 12}); }), HasSubstr("found step 12"));
  EXPECT_THAT(fault([](LoopNest &n) { n.tiles.push_back({0, 0}); }), HasSubstr("found step 0"));
  EXPECT_THAT(fault([](LoopNest &n) { n.reductions.push_back({3, 1}); }), HasSubstr("twice"));
  EXPECT_THAT(fault([](LoopNest &n) { n.reductions[0].unroll = 5; }), HasSubstr("a divisor of 768"));
  EXPECT_THAT(fault([](LoopNest &n) { n.reductions.clear(); }),
              HasSubstr("register tile of 147456 elements"));
  EXPECT_THAT(fault([](LoopNest &n) { n.tiles.clear(); }), HasSubstr("register tile of 98304 elements"));
}

TEST(LoopRoles, WorkloadsWithoutTheDimsOfTheirClassAreNoneOfIt) {
  Workload tooFew = softmax(4, 8);
  tooFew.opClass = OpClass::Attention;
  EXPECT_NE(loopRoles(tooFew).form, NestForm::Attention);
  Workload reversed = attention(12, 128, 128, 64);
  std::reverse(reversed.dims.begin(), reversed.dims.end());
  EXPECT_NE(loopRoles(reversed).form, NestForm::Attention);
  Workload none = elementwise(4, 8);
  none.opClass = OpClass::Normalization;
  EXPECT_EQ(loopRoles(none).form, NestForm::Pointwise);
}

TEST(LoopNest, RecurrencesShareRowsOrDirections) {
  Workload workload = recurrence(100, 8, 64, 4, 2);
  LoopNest nest = nestOf(workload, "cols=16 depth=48 rows=2");
  EXPECT_EQ(nest.tiles, (std::vector<TileLoop>{{0, 1}, {2, 16}, {1, 2}}));
  EXPECT_EQ(nest.reductions, (std::vector<ReductionLoop>{{3, 1}, {4, 48}, {5, 1}}));
  workload.threads = 2;
  EXPECT_THAT(loopRoles(workload).parallelDims(), ElementsAre(0, 1, -1)) << "units wait for each other";
  nest = nestOf(workload, "chunks=2 cols=16 depth=64 parallel=2 rows=2");
  EXPECT_EQ(nest.tiles, (std::vector<TileLoop>{{1, 4}, {0, 1}, {2, 16}, {1, 2}}));
  EXPECT_EQ(nest.chunks(workload), 2);
}

TEST(LoopNest, AttentionHasBlocksOfColumnsWithRests) {
  Workload workload = attention(12, 128, 100, 64);
  LoopNest nest = valueOf(buildLoopNest(workload, valueOf(Schedule::parse("cols=64 planes=6 rows=16"))));
  EXPECT_EQ(nest.tiles, (std::vector<TileLoop>{{0, 1}, {1, 16}, {2, 6}}));
  EXPECT_EQ(nest.reductions, (std::vector<ReductionLoop>{{3, 64}, {4, 1}}));
  workload.threads = 2;
  nest = valueOf(
      buildLoopNest(workload, valueOf(Schedule::parse("chunks=4 cols=64 parallel=2 planes=6 rows=16"))));
  EXPECT_EQ(nest.tiles, (std::vector<TileLoop>{{1, 32}, {0, 1}, {1, 16}, {2, 6}}));
  EXPECT_EQ(nest.chunks(workload), 4);
}
