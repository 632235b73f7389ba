// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A layout is settled by measurements, under the rule that holds for operators.
#include "tuner/SubgraphSearch.h"
#include "test/unit/Results.h"

#include "gtest/gtest.h"

#include <atomic>

using namespace autotune;

namespace {

const std::vector<RegionChoice> kLayouts = {{0, ""}, {8, ""}, {16, ""}};

struct FakeRegions {
  llvm::Expected<Outcome> operator()(const Region &, const RegionChoice &choice) {
    int block = choice.channelBlock;
    ++calls;
    if (block == broken)
      return Outcome(Failure{"compile", "no"});
    double ripple = 1 + noise * double(calls * 7 % 5 - 2);
    return Outcome(Measurement{times.at(block) * ripple, 1, 10});
  }
  std::map<int, double> times = {{0, 300}, {8, 200}, {16, 150}};
  int broken = -1, calls = 0;
  double noise = 0;
};

} // namespace

static SubgraphResult settle(FakeRegions &regions, int untuned) {
  Budget budget({});
  SubgraphSearch search(std::ref(regions), {.alternatives = kLayouts});
  auto result = valueOf(search.run({"conv-chain", "text", {0, 1}}, {untuned, ""}, budget));
  EXPECT_TRUE(result);
  EXPECT_EQ(budget.trials(), 3);
  return result.value_or(SubgraphResult());
}

TEST(SubgraphSearch, TheFastestLayoutWins) {
  FakeRegions regions;
  SubgraphResult result = settle(regions, 8);
  EXPECT_EQ(result.outcome, SearchOutcome::Improved);
  EXPECT_EQ(result.choice.channelBlock, 16);
  EXPECT_NEAR(result.comparison.ratio, 200.0 / 150, 1e-9);
  EXPECT_EQ(result.alternatives.size(), 3u);
}

TEST(SubgraphSearch, TheUntunedLayoutStaysIfItIsBest) {
  FakeRegions regions;
  SubgraphResult result = settle(regions, 16);
  EXPECT_EQ(result.outcome, SearchOutcome::DefaultBest);
  EXPECT_EQ(result.choice.channelBlock, 16);
  EXPECT_EQ(result.comparison.first.medianNs, 150);
  EXPECT_EQ(regions.calls, 3) << "nothing to confirm";
}

TEST(SubgraphSearch, AGainInsideTheNoiseIsNoGain) {
  FakeRegions regions;
  regions.times = {{0, 300}, {8, 200}, {16, 196}};
  regions.noise = 0.02;
  SubgraphResult result = settle(regions, 8);
  EXPECT_EQ(result.outcome, SearchOutcome::DefaultBest);
  EXPECT_EQ(result.choice.channelBlock, 8);
}

TEST(SubgraphSearch, AFailedAlternativeLosesOnly) {
  FakeRegions regions;
  regions.broken = 16;
  SubgraphResult result = settle(regions, 0);
  EXPECT_EQ(result.choice.channelBlock, 8);
  EXPECT_TRUE(std::holds_alternative<Failure>(result.alternatives[2].second));
}

TEST(SubgraphSearch, AStopLeavesNoResult) {
  FakeRegions regions;
  std::atomic<bool> stop = true;
  Budget budget({}, &stop);
  SubgraphSearch search(std::ref(regions), {.alternatives = kLayouts});
  EXPECT_FALSE(valueOf(search.run({"conv-chain", "text", {0, 1}}, {8, ""}, budget)));
  EXPECT_EQ(regions.calls, 0);
}
