// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/worker/KernelTimer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <random>

namespace autotune::worker {

namespace {

constexpr double kSampleNs = 50'000; // a hundred times the cost of reading the thread's clock
constexpr int kMaxBatch = 10'000;
constexpr double kStableSpread = 0.005; // MAD over median

int64_t wallNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int64_t threadNs() {
  timespec time;
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0)
    return wallNs();
  return int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

double median(std::span<double> values) {
  size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + middle, values.end());
  double upper = values[middle];
  if (values.size() % 2 == 1)
    return upper;
  return (upper + *std::max_element(values.begin(), values.begin() + middle)) / 2;
}

} // namespace

Timing summarize(std::span<double> values) {
  Timing timing;
  timing.samples = static_cast<int>(values.size());
  timing.medianNs = median(values);
  std::vector<double> deviations;
  for (double value : values)
    deviations.push_back(std::fabs(value - timing.medianNs));
  timing.madNs = median(deviations);
  return timing;
}

std::pair<double, double> bootstrapMedian(std::span<const double> values) {
  constexpr int kResamples = 2000;
  std::mt19937 random(1);
  std::uniform_int_distribution<size_t> pick(0, values.size() - 1);
  std::vector<double> medians, resample(values.size());
  for (int i = 0; i < kResamples; ++i) {
    for (double &value : resample)
      value = values[pick(random)];
    medians.push_back(median(resample));
  }
  std::sort(medians.begin(), medians.end());
  return {medians[kResamples * 25 / 1000], medians[kResamples * 975 / 1000]};
}

int64_t KernelTimer::nowNs() const { return team.threads() == 1 ? threadNs() : wallNs(); }

int64_t KernelTimer::runOnce(const LoadedKernel &kernel) {
  int64_t begin = nowNs();
  team.run([&] { team.dispatch(kernel.function, buffers.nextArgs(), kernel.chunks); });
  return nowNs() - begin;
}

// Within a run of the team: a batch is what a session does with a row of steps.
double KernelTimer::sample(const LoadedKernel &kernel, int batch) {
  int64_t begin = nowNs();
  for (int i = 0; i < batch; ++i)
    team.dispatch(kernel.function, buffers.nextArgs(), kernel.chunks);
  return static_cast<double>(nowNs() - begin) / batch;
}

int KernelTimer::batchFor(const LoadedKernel &kernel) {
  // The fastest of three: the first pays for cold code and helpers that are still on their way.
  double fastest = sample(kernel, 1);
  for (int i = 0; i < 2 && fastest < kSampleNs; ++i)
    fastest = std::min(fastest, sample(kernel, 1));
  return static_cast<int>(std::clamp(std::ceil(kSampleNs / std::max(fastest, 1.0)), 1.0, double(kMaxBatch)));
}

Timing KernelTimer::time(const LoadedKernel &kernel, const TimingLimits &limits) {
  std::vector<double> samples;
  team.run([&] {
    int batch = batchFor(kernel);
    int64_t begin = wallNs();
    while (static_cast<int>(samples.size()) < std::max(1, limits.maxSamples)) {
      samples.push_back(sample(kernel, batch));
      if (limits.slowNs > 0 && samples.back() > static_cast<double>(limits.slowNs))
        break;
      if (static_cast<int>(samples.size()) < limits.minSamples)
        continue;
      Timing timing = summarize(samples);
      if (timing.madNs <= kStableSpread * timing.medianNs || wallNs() - begin >= limits.budgetNs)
        break;
    }
  });
  return summarize(samples);
}

PairedTiming KernelTimer::timePairs(const LoadedKernel &first, const LoadedKernel &second, int pairs) {
  std::vector<double> firstTimes, secondTimes, ratios;
  team.run([&] {
    int firstBatch = batchFor(first), secondBatch = batchFor(second);
    for (int pair = 0; pair < std::max(1, pairs); ++pair) {
      if (pair % 2 == 0)
        firstTimes.push_back(sample(first, firstBatch));
      secondTimes.push_back(sample(second, secondBatch));
      if (pair % 2 == 1)
        firstTimes.push_back(sample(first, firstBatch));
      ratios.push_back(firstTimes.back() / secondTimes.back());
    }
  });
  PairedTiming result;
  std::tie(result.low, result.high) = bootstrapMedian(ratios);
  result.ratio = median(ratios);
  result.first = summarize(firstTimes);
  result.second = summarize(secondTimes);
  return result;
}

} // namespace autotune::worker
