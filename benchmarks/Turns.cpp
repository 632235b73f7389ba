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

constexpr int kAttempts = 8;
// What reading two clocks costs, and an interrupt of the machine's own timer.
constexpr double kUsualLossNs = 5000, kUsualLossShare = 0.005;
// Helpers of the side that ran last may spin for a while before they sleep.
constexpr std::chrono::milliseconds kSettle(10);

double wallNs() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// A run while the thread has its processor all the time; else the shortest of the attempts.
double undisturbedNs(TimedOperator &side) {
  double shortest = std::numeric_limits<double>::max();
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    double wall = wallNs();
    int64_t own = threadNs();
    double ns = side.runNs();
    double ownNs = double(threadNs() - own);
    wall = wallNs() - wall;
    if (wall - ownNs <= kUsualLossNs + kUsualLossShare * wall)
      return ns;
    shortest = std::min(shortest, ns);
  }
  return shortest;
}

/// With several threads, the time that this one has is no measure: it may sleep while others finish.
double runNs(TimedOperator &side, int threads) { return threads == 1 ? undisturbedNs(side) : side.runNs(); }

double turn(TimedOperator &side, const TurnOptions &options) {
  if (options.threads > 1)
    std::this_thread::sleep_for(kSettle);
  side.runNs();
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
