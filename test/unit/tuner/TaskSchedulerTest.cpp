// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rounds go where time can be saved, and end when none can.
#include "tuner/TaskScheduler.h"
#include "tuner/Budget.h"

#include "gtest/gtest.h"

using namespace autotune;

TEST(TaskScheduler, EveryTaskHasItsFirstRoundHeaviestFirst) {
  TaskScheduler scheduler({{1, 100, 90}, {4, 100, 90}, {1, 300, 290}});
  std::vector<size_t> order;
  for (int i = 0; i < 3; ++i) {
    order.push_back(*scheduler.next());
    scheduler.report(order.back(), 100);
  }
  EXPECT_EQ(order, (std::vector<size_t>{1, 2, 0}));
}

TEST(TaskScheduler, FurtherRoundsGoToTheLargestExpectedGain) {
  TaskScheduler scheduler({{1, 1000, 100}, {1, 1000, 990}});
  scheduler.report(0, 1000);
  scheduler.report(1, 1000);
  EXPECT_EQ(scheduler.next(), 0u);
  scheduler.report(0, 900);
  EXPECT_EQ(scheduler.next(), 0u);
}

TEST(TaskScheduler, EndsWhenGainsDryUp) {
  TaskScheduler scheduler({{1, 1000, 500}, {2, 1000, 900}});
  int rounds = 0;
  while (std::optional<size_t> task = scheduler.next()) {
    scheduler.report(*task, 1000);
    ++rounds;
  }
  EXPECT_GE(rounds, 6);
  EXPECT_LE(rounds, 20);
  EXPECT_TRUE(scheduler.isDry(0) && scheduler.isDry(1));
}

TEST(TaskScheduler, FailedRoundsAreTriedAgainButNotForEver) {
  TaskScheduler scheduler({{1, 1000, 500}});
  scheduler.report(0, std::nullopt);
  EXPECT_EQ(scheduler.next(), 0u);
  int rounds = 0;
  for (; scheduler.next(); ++rounds)
    scheduler.report(0, std::nullopt);
  EXPECT_LE(rounds, 20);
}

TEST(TaskScheduler, FinishedTasksGetNoRound) {
  TaskScheduler scheduler({{1, 1000, 500}});
  scheduler.finish(0);
  EXPECT_EQ(scheduler.next(), std::nullopt);
}

TEST(Budget, EndsWithTimeTrialsOrTheUser) {
  Budget::Clock::time_point now{};
  std::atomic<bool> stop = false;
  Budget budget({std::chrono::seconds(10), 20}, &stop, [&] { return now; });
  EXPECT_FALSE(budget.isUsedUp());
  EXPECT_EQ(budget.clampTrials(30), 20);
  now += std::chrono::seconds(8);
  EXPECT_FALSE(budget.isUsedUp());
  EXPECT_TRUE(budget.isUsedUp(std::chrono::seconds(2)));
  EXPECT_EQ(budget.timeLeft(), std::chrono::seconds(2));
  stop = true;
  EXPECT_TRUE(budget.isUsedUp());
  stop = false;
  budget.addTrials(20);
  EXPECT_TRUE(budget.isUsedUp());
  EXPECT_EQ(budget.clampTrials(8), 0);
  EXPECT_FALSE(Budget({}).isUsedUp(std::chrono::hours(1000)));
}
