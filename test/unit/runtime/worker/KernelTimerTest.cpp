// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/worker/KernelTimer.h"

#include <gtest/gtest.h>

#include <chrono>

using namespace autotune;
using namespace autotune::worker;

namespace {

int64_t calls = 0;

void countCalls(void *const *, int64_t, int64_t) { ++calls; }

void spinHundredMicroseconds(void *const *, int64_t, int64_t) {
  ++calls;
  auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(100);
  while (std::chrono::steady_clock::now() < end) {
  }
}

TaskBuffers emptyBuffers() {
  llvm::Expected<TaskBuffers> buffers = TaskBuffers::create({}, 0);
  EXPECT_TRUE(static_cast<bool>(buffers));
  return std::move(*buffers);
}

} // namespace

TEST(KernelTimer, SummarizesByMedianAndDeviation) {
  std::vector<double> odd = {5, 1, 100}, even = {4, 1, 2, 3};
  EXPECT_EQ(summarize(odd).medianNs, 5);
  EXPECT_EQ(summarize(odd).madNs, 4);
  EXPECT_EQ(summarize(even).medianNs, 2.5);
  EXPECT_EQ(summarize(even).samples, 4);
}

TEST(KernelTimer, BootstrapCoversTheMedianAndIsRepeatable) {
  std::vector<double> values = {1.0, 1.1, 0.9, 1.05, 0.95, 1.02, 3.0};
  auto [low, high] = bootstrapMedian(values);
  EXPECT_LE(low, 1.02);
  EXPECT_GE(high, 1.02);
  EXPECT_LT(high, 3.0);
  EXPECT_EQ(bootstrapMedian(values), std::make_pair(low, high));
}

TEST(KernelTimer, RunsShortKernelsInBatches) {
  deploy::ThreadTeam team(1);
  TaskBuffers buffers = emptyBuffers();
  KernelTimer timer(team, buffers);
  calls = 0;
  TimingLimits limits;
  limits.maxSamples = 10;
  Timing timing = timer.time({countCalls, 1}, limits);
  EXPECT_LT(timing.medianNs, 2000);
  EXPECT_GT(calls, 100);
  EXPECT_GE(timing.samples, limits.minSamples);
}

TEST(KernelTimer, ASlowKernelGetsOneSample) {
  deploy::ThreadTeam team(1);
  TaskBuffers buffers = emptyBuffers();
  KernelTimer timer(team, buffers);
  TimingLimits limits;
  limits.slowNs = 1000;
  calls = 0;
  EXPECT_EQ(timer.time({spinHundredMicroseconds, 1}, limits).samples, 1);
  EXPECT_EQ(calls, 2);
}

TEST(KernelTimer, PairsOfTheSameKernelAreEqual) {
  deploy::ThreadTeam team(1);
  TaskBuffers buffers = emptyBuffers();
  KernelTimer timer(team, buffers);
  PairedTiming timing = timer.timePairs({spinHundredMicroseconds, 1}, {spinHundredMicroseconds, 1}, 9);
  EXPECT_NEAR(timing.ratio, 1, 0.2);
  EXPECT_EQ(timing.first.samples, 9);
  EXPECT_NEAR(timing.second.medianNs, 100'000, 20'000);
}
