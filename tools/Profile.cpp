// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/Profile.h"

#include "tools/MeasureDevice.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>

namespace autotune {
namespace {

/// Samples of the peak, spread over the runs: a clock that changes meets both.
constexpr int kPeakSamples = 15;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
  auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// All runs of a model, step by step.
struct StepSamples {
  std::vector<double> totalNs;               // [run]
  std::vector<std::vector<int64_t>> stepsNs; // [run][step]
  std::vector<double> peakGflops;

  /// The run whose time is the median.
  size_t typicalRun() const {
    std::vector<size_t> order(totalNs.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return totalNs[a] < totalNs[b]; });
    return order[(order.size() - 1) / 2];
  }
  double medianNs(size_t step) const {
    std::vector<double> values;
    for (const std::vector<int64_t> &run : stepsNs)
      values.push_back(double(run[step]));
    return median(std::move(values));
  }
};

StepSamples takeSamples(BenchmarkRun &program, size_t steps, Isa isa, const BenchmarkOptions &options) {
  for (double start = seconds(); seconds() - start < options.warmUpSeconds;)
    program.timeNs();
  StepSamples samples;
  double start = seconds();
  for (double elapsed = 0; samples.totalNs.size() < options.minRuns || elapsed < options.seconds;
       elapsed = seconds() - start) {
    if (double(samples.peakGflops.size()) * options.seconds <= elapsed * kPeakSamples)
      samples.peakGflops.push_back(sampleFmaGflops(isa));
    std::vector<int64_t> &run = samples.stepsNs.emplace_back(steps);
    samples.totalNs.push_back(program.timeStepsNs(run));
  }
  return samples;
}

/// Rates of exponentials or maxima say little, and next to the peak they mislead.
bool isArithmetic(const deploy::KernelSpec &kernel) {
  return kernel.opClass == "contraction" || kernel.opClass == "depthwise" || kernel.opClass == "attention";
}

} // namespace

double KernelProfile::gflops() const {
  return ns > 0 && isArithmetic(kernel) ? calls() * double(kernel.flops) / ns : 0;
}

double KernelProfile::gbs() const {
  return ns > 0 ? calls() * double(kernel.bytesRead + kernel.bytesWritten) / ns : 0;
}

double ModelProfile::stepsNs() const {
  double sum = 0;
  for (const StepProfile &step : steps)
    sum += step.medianNs;
  return sum;
}

MemoryUse memoryUse(const deploy::Manifest &manifest) {
  MemoryUse memory;
  for (const deploy::ProfileSpec &profile : manifest.profiles)
    memory.add(int64_t(profile.arenaBytes), int64_t(profile.tensorBytes), 0);
  memory.constantsBytes = int64_t(manifest.constantsBytes);
  return memory;
}

void groupByKernel(ModelProfile &profile, const std::vector<deploy::KernelSpec> &kernels) {
  std::map<size_t, KernelProfile> groups;
  for (const StepProfile &step : profile.steps) {
    KernelProfile &group =
        groups.try_emplace(step.kernel, KernelProfile{kernels[step.kernel], {}, 0}).first->second;
    group.labels.push_back(step.label);
    group.ns += step.medianNs;
  }
  std::vector<size_t> order;
  for (const auto &[kernel, group] : groups)
    order.push_back(kernel);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(-groups.at(a).ns, a) < std::pair(-groups.at(b).ns, b);
  });
  std::map<size_t, size_t> position;
  for (size_t kernel : order) {
    position[kernel] = profile.kernels.size();
    profile.kernels.push_back(std::move(groups.at(kernel)));
  }
  for (StepProfile &step : profile.steps)
    step.kernel = position.at(step.kernel);
}

ModelProfile profileModel(const std::shared_ptr<const deploy::Model> &model, int threads,
                          const BenchmarkOptions &options) {
  const deploy::Manifest &manifest = model->manifest();
  const std::vector<deploy::StepSpec> &steps = model->profile(0).steps;
  BenchmarkRun program(model, 0, threads);
  Isa isa = manifest.isa == isaName(Isa::Avx512) ? Isa::Avx512 : Isa::Avx2;
  StepSamples samples = takeSamples(program, steps.size(), isa, options);
  ModelProfile profile;
  profile.model = manifest.model;
  profile.threads = program.threads();
  profile.runs = samples.totalNs.size();
  profile.latency = summarize(samples.totalNs);
  profile.peakGflops = profile.threads * median(samples.peakGflops);
  profile.memory = memoryUse(manifest);
  const std::vector<int64_t> &typical = samples.stepsNs[samples.typicalRun()];
  for (size_t s = 0; s < steps.size(); ++s)
    profile.steps.push_back({steps[s].label, steps[s].kernel, samples.medianNs(s), double(typical[s])});
  groupByKernel(profile, manifest.kernels);
  return profile;
}

} // namespace autotune
