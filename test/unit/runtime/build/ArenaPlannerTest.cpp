// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers that live together never share bytes; buffers that do not, do.
#include "runtime/build/ArenaPlanner.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <random>

using namespace autotune;

namespace {

constexpr int64_t kAlignment = 64;

bool liveTogether(const BufferLifetime &a, const BufferLifetime &b) {
  return a.firstStep <= b.lastStep && b.firstStep <= a.lastStep;
}

/// Every plan must hold this, whatever the buffers are.
void expectSound(const std::vector<BufferLifetime> &buffers, const ArenaPlan &plan) {
  ASSERT_EQ(plan.offsets.size(), buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_GE(plan.offsets[i], 0);
    EXPECT_EQ(plan.offsets[i] % kAlignment, 0) << "buffer " << i;
    EXPECT_LE(plan.offsets[i] + buffers[i].bytes, plan.arenaBytes) << "buffer " << i;
    for (size_t j = 0; j < i; ++j) {
      bool apart = plan.offsets[i] + buffers[i].bytes <= plan.offsets[j] ||
                   plan.offsets[j] + buffers[j].bytes <= plan.offsets[i];
      EXPECT_TRUE(apart || !liveTogether(buffers[i], buffers[j])) << "buffers " << i << " and " << j;
    }
  }
}

/// No arena can be smaller: the most bytes that are alive at one step.
int64_t peakBytes(const std::vector<BufferLifetime> &buffers) {
  int64_t peak = 0;
  for (const BufferLifetime &at : buffers) {
    int64_t alive = 0;
    for (const BufferLifetime &other : buffers)
      if (other.firstStep <= at.firstStep && at.firstStep <= other.lastStep)
        alive += other.bytes;
    peak = std::max(peak, alive);
  }
  return peak;
}

} // namespace

TEST(ArenaPlanner, NothingNeedsNoBytes) {
  EXPECT_EQ(planArena({}, kAlignment).arenaBytes, 0);
  ArenaPlan plan = planArena({{0, 0, 3}}, kAlignment);
  EXPECT_EQ(plan.arenaBytes, 0);
  EXPECT_EQ(plan.offsets, std::vector<int64_t>{0});
}

TEST(ArenaPlanner, AChainNeedsTwoBuffers) {
  std::vector<BufferLifetime> chain;
  for (int step = 0; step < 10; ++step)
    chain.push_back({1024, step, step + 1});
  ArenaPlan plan = planArena(chain, kAlignment);
  expectSound(chain, plan);
  EXPECT_EQ(plan.arenaBytes, 2 * 1024);
}

TEST(ArenaPlanner, ABufferLivesThroughItsLastStep) {
  // The second is first written in the step that reads the first: they must not meet.
  std::vector<BufferLifetime> buffers = {{64, 0, 1}, {64, 1, 2}};
  ArenaPlan plan = planArena(buffers, kAlignment);
  expectSound(buffers, plan);
  EXPECT_EQ(plan.arenaBytes, 128);
}

TEST(ArenaPlanner, AShortcutStaysInPlaceWhileOthersComeAndGo) {
  std::vector<BufferLifetime> buffers = {
      {4096, 0, 9}, {1000, 1, 2}, {1000, 2, 3}, {1000, 3, 4}, {1000, 4, 9}};
  ArenaPlan plan = planArena(buffers, kAlignment);
  expectSound(buffers, plan);
  EXPECT_EQ(plan.arenaBytes, 4096 + 2 * 1024);
}

TEST(ArenaPlanner, SmallBuffersFillTheGapsOfLargeOnes) {
  std::vector<BufferLifetime> buffers = {{64, 5, 6}, {512, 0, 4}, {256, 0, 9}};
  ArenaPlan plan = planArena(buffers, kAlignment);
  expectSound(buffers, plan);
  EXPECT_EQ(plan.arenaBytes, 768);
}

TEST(ArenaPlanner, RandomLifetimesNeverOverlap) {
  std::mt19937 random(20240817);
  for (int round = 0; round < 200; ++round) {
    int count = 1 + int(random() % 40), steps = 1 + int(random() % 30);
    std::vector<BufferLifetime> buffers;
    int64_t total = 0;
    for (int i = 0; i < count; ++i) {
      int first = int(random() % steps), last = std::min(steps - 1, first + int(random() % 8));
      buffers.push_back({int64_t(random() % 5000), first, last});
      total += (buffers.back().bytes + kAlignment - 1) / kAlignment * kAlignment;
    }
    ArenaPlan plan = planArena(buffers, kAlignment);
    expectSound(buffers, plan);
    EXPECT_LE(plan.arenaBytes, total) << "round " << round;
    EXPECT_GE(plan.arenaBytes, peakBytes(buffers)) << "round " << round;
    EXPECT_EQ(planArena(buffers, kAlignment).offsets, plan.offsets) << "round " << round;
    if (testing::Test::HasFailure())
      return;
  }
}
