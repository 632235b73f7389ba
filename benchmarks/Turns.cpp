// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "benchmarks/Turns.h"

#include "benchmarks/FmaPeak.h"
#include "benchmarks/Statistics.h"
#include "benchmarks/ThreadClock.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

namespace autotune::benchmarks {
namespace {

constexpr int kLeastAttempts = 3, kMostAttempts = 8;
constexpr double kPatienceNs = 30e6;
// What reading two clocks costs, and an interrupt of the machine's own timer.
constexpr double kUsualLossNs = 5000, kUsualLossShare = 0.005;
// Helpers of the side that ran last may spin for a while before they sleep.
constexpr std::chrono::milliseconds kSettle(10);

double wallNs() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// A run while the thread has its processor all the time. A run that is long against the operating system's
/// time slices may never have it: then the thread's own time, less what the conversions take when nothing
/// comes between.
double undisturbedNs(TimedOperator &side) {
  double own = std::numeric_limits<double>::max(), others = own, spent = 0;
  for (int attempt = 0; attempt < kLeastAttempts || (attempt < kMostAttempts && spent < kPatienceNs);
       ++attempt) {
    double wall = wallNs();
    int64_t start = threadNs();
    RunTimes times = side.run();
    double ownNow = double(threadNs() - start);
    wall = wallNs() - wall;
    if (wall - ownNow <= kUsualLossNs + kUsualLossShare * wall)
      return times.counted;
    own = std::min(own, ownNow);
    others = std::min(others, times.others);
    spent += wall;
  }
  return own - others;
}

/// With several threads, the time that this one has is no measure: it may sleep while others finish.
double runNs(TimedOperator &side, int threads) {
  return threads == 1 ? undisturbedNs(side) : side.run().counted;
}

double turn(TimedOperator &side, const TurnOptions &options) {
  if (options.threads > 1)
    std::this_thread::sleep_for(kSettle);
  side.run();
  std::vector<double> runs;
  for (double start = wallNs(); runs.empty() || wallNs() - start < options.turnNs;)
    runs.push_back(runNs(side, options.threads));
  return median(runs);
}

} // namespace

double shortestNs(TimedOperator &side, int runs, int threads) {
  double shortest = runNs(side, threads);
  for (int i = 1; i < runs; ++i)
    shortest = std::min(shortest, runNs(side, threads));
  return shortest;
}

RoundSamples timeInTurns(llvm::ArrayRef<TimedOperator *> sides, const TurnOptions &options) {
  RoundSamples samples;
  samples.ns.resize(sides.size());
  for (int round = 0; round < options.rounds; ++round) {
    samples.peakGflops.push_back(options.threads * sampleFmaPeak(options.isa));
    for (size_t i = 0; i < sides.size(); ++i) {
      size_t side = round % 2 ? sides.size() - 1 - i : i;
      samples.ns[side].push_back(turn(*sides[side], options));
    }
  }
  return samples;
}

} // namespace autotune::benchmarks
