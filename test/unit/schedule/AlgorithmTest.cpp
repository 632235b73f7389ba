// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Algorithms by name, and the workloads and nests that convolutions have under them.
#include "schedule/Algorithm.h"
#include "schedule/LoopNest.h"
#include "schedule/LoopRoles.h"
#include "schedule/Space.h"
#include "schedule/WinogradNest.h"
#include "test/unit/Results.h"

#include <gmock/gmock.h>

using namespace autotune;
using testing::ElementsAre;

namespace {

BlockedConvolution shape() { return {.images = 1, .outBlocks = 4, .inBlocks = 3, .block = 16, .height = 14, .width = 13}; }

LoopNest nestOf(const Workload &workload, const char *schedule) {
  return valueOf(buildLoopNest(workload, valueOf(Schedule::parse(schedule))));
}

} // namespace

TEST(Algorithm, WinogradNames) {
  EXPECT_EQ(winogradName(4), "winograd4");
  EXPECT_EQ(winogradOutputs("winograd4"), 4);
  EXPECT_EQ(winogradOutputs("winograd2_conv"), 2);
  for (const char *other : {"direct", "view", "winograd", "winograd3", "winograd42", "conv", ""})
    EXPECT_EQ(winogradOutputs(other), 0) << other;
}

TEST(Algorithm, WorkloadsOfAConvolution) {
  Workload direct = directConvolution(shape());
  EXPECT_EQ(direct.flops(), 2.0 * 14 * 13 * 64 * 48 * 9);
  EXPECT_EQ(loopRoles(direct).form, NestForm::Contraction);
  Workload products = winogradProducts(shape(), 4);
  EXPECT_EQ(products.kind, "winograd4_conv");
  EXPECT_EQ(products.flops(), 2.0 * 36 * 16 * 64 * 48) << "4 x 4 tiles of 4 x 4 outputs, the last ones in part";
  EXPECT_EQ(valueOf(Workload::parse(products.text())), products);
  EXPECT_EQ(winogradProducts(shape(), 2).flops(), 2.0 * 16 * 49 * 64 * 48);
}

TEST(Algorithm, WinogradNests) {
  Workload products = winogradProducts(shape(), 4);
  LoopRoles roles = loopRoles(products);
  EXPECT_THAT(knobNames(products, roles), ElementsAre("cache_rows", "planes", "rows", "unroll"));
  LoopNest nest = nestOf(products, "cache_rows=2 planes=3 rows=5 unroll=4");
  EXPECT_THAT(nest.tiles, ElementsAre(TileLoop{1, 10}, TileLoop{2, 3}, TileLoop{0, 1}, TileLoop{1, 5}));
  std::optional<WinogradBlocking> blocking = winogradBlocking(nest, 16, 4);
  ASSERT_TRUE(blocking);
  EXPECT_EQ(blocking->tiles, 10);
  EXPECT_EQ(blocking->rows, 5);
  EXPECT_EQ(blocking->planes, 3);
  EXPECT_EQ(blocking->unroll, 4);
  EXPECT_FALSE(blocking->chunkLoop);
  // One block that is one register tile: no loop over tiles at all.
  blocking = winogradBlocking(nestOf(products, "cache_rows=1 planes=1 rows=16 unroll=1"), 16, 4);
  ASSERT_TRUE(blocking);
  EXPECT_EQ(blocking->tiles, 16);
  EXPECT_EQ(blocking->rows, 16);
}

TEST(Algorithm, WinogradNestsOfThreads) {
  Workload products = winogradProducts(shape(), 4);
  products.threads = 2;
  LoopNest tiles = nestOf(products, "cache_rows=1 chunks=2 parallel=1 planes=2 rows=4 unroll=1");
  EXPECT_EQ(tiles.chunks(products), 2);
  std::optional<WinogradBlocking> blocking = winogradBlocking(tiles, 16, 4);
  ASSERT_TRUE(blocking);
  EXPECT_EQ(blocking->chunkLoop, kTileLoop);
  EXPECT_EQ(blocking->chunk, 8);
  EXPECT_EQ(blocking->tiles, 4);
  LoopNest channels = nestOf(products, "cache_rows=4 chunks=2 parallel=2 planes=1 rows=4 unroll=1");
  blocking = winogradBlocking(channels, 16, 4);
  ASSERT_TRUE(blocking);
  EXPECT_EQ(blocking->chunkLoop, kOutBlockLoop);
  EXPECT_EQ(blocking->chunk, 2);
  EXPECT_EQ(blocking->planes, 1);
}

TEST(Algorithm, NestsThatNoWinogradKernelHas) {
  EXPECT_FALSE(winogradBlocking({{{1, 2}}, {{4, 1}}, false}, 16, 4)) << "no loop over points";
  EXPECT_FALSE(winogradBlocking({{{0, 1}, {1, 2}}, {{4, 1}}, true}, 16, 4)) << "points are not shared";
  EXPECT_FALSE(winogradBlocking({{{0, 1}, {3, 2}}, {{4, 1}}, false}, 16, 4)) << "lanes are whole";
  EXPECT_FALSE(winogradBlocking({{{0, 1}, {1, 2}}, {}, false}, 16, 4)) << "no reduction";
}
