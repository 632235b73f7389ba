// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The chunk dispatcher under stress: each chunk of each step exactly once, in step order, whoever comes to
// help.
#include "runtime/deploy/ThreadTeam.h"

#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

using autotune::deploy::ThreadTeam;

namespace {

constexpr int64_t kMaxChunks = 64;

/// Not atomic on purpose: two threads in one chunk, or a chunk that overlaps its step's end, is a data race
/// that ThreadSanitizer sees and, most times, a wrong number.
struct Board {
  std::vector<int64_t> counts = std::vector<int64_t>(kMaxChunks, 0);
};

template <int64_t Increment> void count(void *const *args, int64_t begin, int64_t end) {
  auto &counts = static_cast<Board *>(args[0])->counts;
  for (int64_t chunk = begin; chunk < end; ++chunk)
    counts[chunk] += Increment;
}

/// Steps of changing length, kernel and board; returns whether all sums are right.
bool stress(ThreadTeam &team, int runs, int stepsPerRun) {
  Board first, second;
  std::vector<int64_t> expectedFirst(kMaxChunks, 0), expectedSecond(kMaxChunks, 0);
  void *firstArgs[] = {&first}, *secondArgs[] = {&second};
  for (int run = 0; run < runs; ++run)
    team.run([&] {
      for (int step = 0; step < stepsPerRun; ++step) {
        int64_t chunks = 1 + (step * 7 + run) % kMaxChunks;
        bool odd = step % 2;
        team.dispatch(odd ? count<1> : count<1000>, odd ? firstArgs : secondArgs, chunks);
        for (int64_t chunk = 0; chunk < chunks; ++chunk)
          (odd ? expectedFirst : expectedSecond)[chunk] += odd ? 1 : 1000;
      }
    });
  return first.counts == expectedFirst && second.counts == expectedSecond;
}

/// Lets oneTBB make more threads than the machine has cores.
struct ManyThreads {
  tbb::global_control control{tbb::global_control::max_allowed_parallelism, 16};
};

} // namespace

TEST(ThreadTeam, AloneRunsWholeStepsOnTheCaller) {
  ThreadTeam team(1);
  EXPECT_TRUE(stress(team, 10, 100));
}

TEST(ThreadTeam, TwoThreadsDoEachChunkOnce) {
  ThreadTeam team(2);
  EXPECT_TRUE(stress(team, 100, 500));
}

TEST(ThreadTeam, MoreThreadsThanCoresDoEachChunkOnce) {
  ManyThreads many;
  ThreadTeam team(8);
  EXPECT_TRUE(stress(team, 40, 200));
}

TEST(ThreadTeam, ManyShortRunsDoEachChunkOnce) {
  ManyThreads many;
  ThreadTeam team(4);
  EXPECT_TRUE(stress(team, 3000, 2));
}

TEST(ThreadTeam, TeamsAtOnceDoNotDisturbEachOther) {
  ManyThreads many;
  std::atomic<int> right{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller)
    callers.emplace_back([&] {
      ThreadTeam team(3);
      right += stress(team, 50, 100);
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(right, 3);
}

TEST(ThreadTeam, CompletesWithoutAnyHelper) {
  tbb::global_control none(tbb::global_control::max_allowed_parallelism, 1);
  ThreadTeam team(4);
  EXPECT_TRUE(stress(team, 20, 100));
}

TEST(ThreadTeam, TeamsThatComeAndGoLeaveNothingBehind) {
  for (int i = 0; i < 200; ++i) {
    ThreadTeam team(3);
    ASSERT_TRUE(stress(team, 1, 4));
  }
}

TEST(ThreadTeam, AloneNobodyHelps) {
  ThreadTeam team(4);
  std::atomic<bool> helped{false};
  std::thread::id caller = std::this_thread::get_id();
  struct Context {
    std::atomic<bool> &helped;
    std::thread::id caller;
  } context{helped, caller};
  void *args[] = {&context};
  for (int run = 0; run < 200; ++run)
    team.runAlone([&] {
      team.dispatch(
          [](void *const *args, int64_t, int64_t) {
            auto &context = *static_cast<Context *>(args[0]);
            if (std::this_thread::get_id() != context.caller)
              context.helped = true;
          },
          args, 64);
    });
  EXPECT_FALSE(helped);
  EXPECT_TRUE(stress(team, 5, 50));
}

TEST(ThreadTeam, AnExceptionEndsTheRunAndTheTeamGoesOn) {
  ThreadTeam team(2);
  EXPECT_THROW(team.run([] { throw std::runtime_error("stop"); }), std::runtime_error);
  EXPECT_TRUE(stress(team, 5, 50));
}
