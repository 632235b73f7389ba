// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chunks say who computed them: a step that the caller did alone is no measure of sharing.
#include "benchmarks/runtime/ForkJoin.h"

#include "benchmarks/Statistics.h"
#include "runtime/deploy/ThreadTeam.h"

#include <algorithm>
#include <chrono>
#include <immintrin.h>
#include <thread>

namespace autotune::benchmarks {
namespace {

constexpr int kSteps = 400;
constexpr std::chrono::milliseconds kPause(5); // longer than idle threads spin

double nowNs() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// A chunk of a step: arithmetic in registers, so that threads share nothing but the team.
struct Work {
  int64_t iterations = 0;
  std::vector<std::thread::id> doneBy; // by chunk

  static void run(void *const *args, int64_t begin, int64_t end) {
    auto &work = *static_cast<Work *>(args[0]);
    for (int64_t chunk = begin; chunk < end; ++chunk) {
      __m128 value = _mm_set_ss(1);
      for (int64_t i = 0; i < work.iterations; ++i) {
        asm volatile("" : "+x"(value));
        value = _mm_mul_ss(value, value);
      }
      asm volatile("" : : "x"(value));
      work.doneBy[size_t(chunk)] = std::this_thread::get_id();
    }
  }
};

struct Step {
  double ns = 0, endNs = 0;
  int chunksOfHelpers = 0;
  bool everyone = false; // each chunk by another thread
};

Step takeStep(deploy::ThreadTeam &team, Work &work, void *const *args) {
  double start = nowNs();
  team.dispatch(Work::run, args, int64_t(work.doneBy.size()));
  Step step;
  step.endNs = nowNs();
  step.ns = step.endNs - start;
  std::vector<std::thread::id> threads = work.doneBy;
  step.chunksOfHelpers = int(std::count_if(
      threads.begin(), threads.end(), [](std::thread::id id) { return id != std::this_thread::get_id(); }));
  std::sort(threads.begin(), threads.end());
  step.everyone = std::adjacent_find(threads.begin(), threads.end()) == threads.end();
  return step;
}

double chunkNs(Work &work, void *const *args, int repeats) {
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    double start = nowNs();
    Work::run(args, 0, 1);
    times.push_back(nowNs() - start);
  }
  return median(std::move(times));
}

ForkJoinRun summarize(const std::vector<Step> &steps, double startNs, double oneChunkNs, int threads) {
  ForkJoinRun round;
  auto first =
      std::find_if(steps.begin(), steps.end(), [](const Step &step) { return step.chunksOfHelpers > 0; });
  if (first == steps.end())
    return round;
  round.joinNs = first->endNs - startNs;
  std::vector<double> costs;
  double helped = 0;
  auto count = double(steps.end() - first);
  for (auto step = first; step != steps.end(); ++step) {
    helped += step->chunksOfHelpers;
    if (step->everyone)
      costs.push_back(step->ns - oneChunkNs);
  }
  round.sharedPercent = 100 * double(costs.size()) / count;
  round.helpersPercent = 100 * helped / (count * threads);
  round.hasCost = !costs.empty();
  if (round.hasCost)
    round.costNs = median(std::move(costs));
  return round;
}

} // namespace

std::vector<ForkJoinRound> measureForkJoin(int threads, double wantedNs, int rounds) {
  deploy::ThreadTeam team(threads);
  Work work;
  work.doneBy.resize(size_t(threads));
  void *args[] = {&work};
  work.iterations = 10'000;
  work.iterations = int64_t(10'000 * wantedNs / chunkNs(work, args, 21));
  struct Samples {
    std::vector<Step> steps;
    double startNs = 0;
  };
  auto takeRun = [&] {
    Samples samples;
    samples.steps.reserve(kSteps);
    samples.startNs = nowNs();
    team.run([&] {
      for (int step = 0; step < kSteps; ++step)
        samples.steps.push_back(takeStep(team, work, args));
    });
    return samples;
  };
  std::vector<ForkJoinRound> result;
  for (int i = 0; i < rounds; ++i) {
    std::this_thread::sleep_for(kPause);
    double oneChunkNs = chunkNs(work, args, 51);
    Samples first = takeRun(), second = takeRun();
    result.push_back({summarize(first.steps, first.startNs, oneChunkNs, threads),
                      summarize(second.steps, second.startNs, oneChunkNs, threads)});
  }
  return result;
}

} // namespace autotune::benchmarks
