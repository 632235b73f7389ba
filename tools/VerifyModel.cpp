// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/VerifyModel.h"

#include "runtime/worker/KernelTimer.h"
#include "tools/Benchmark.h"
#include "tools/CompareTensors.h"
#include "tools/RunModel.h"

namespace autotune {
namespace {

Measurement measurementOf(std::vector<double> samples) {
  worker::Timing timing = worker::summarize(samples);
  return {timing.medianNs, timing.madNs, timing.samples};
}

/// What differs between the outputs of the two programs' last runs; empty if nothing does.
std::string findDifference(const BenchmarkRun &first, const BenchmarkRun &second,
                           const llvm::StringMap<double> &quanta, Comparison &comparison) {
  std::vector<HostTensor> expected = first.outputTensors(), found = second.outputTensors();
  for (size_t i = 0; i < expected.size(); ++i) {
    auto quantum = quanta.find(expected[i].name);
    TensorComparison result = compareTensors(
        found[i], expected[i], quantum == quanta.end() ? std::nullopt : std::optional(quantum->second));
    if (!result.passed)
      return "output `" + expected[i].name + "`: " + result.reason;
    double &worst = comparison.metrics["relative_error"];
    worst = std::max(worst, result.relativeError);
  }
  comparison.standard = "whole-model";
  return "";
}

} // namespace

llvm::Expected<ComparisonOutcome> compareModels(const std::shared_ptr<const deploy::Model> &first,
                                                const std::shared_ptr<const deploy::Model> &second,
                                                size_t profile, int threads,
                                                const llvm::StringMap<double> &quanta) {
  Comparison comparison;
  std::string difference;
  std::vector<std::vector<double>> samples;
  llvm::Error error = catchRuntimeErrors([&] {
    BenchmarkRun a(first, profile, threads), b(second, profile, threads);
    a.timeNs();
    b.timeNs();
    difference = findDifference(a, b, quanta, comparison);
    if (difference.empty())
      samples = timeInterleaved({&a, &b}, {});
  });
  if (error)
    return error;
  if (!difference.empty())
    return ComparisonOutcome(Failure{"check", difference});
  std::vector<double> ratios;
  for (size_t i = 0; i < samples[0].size(); ++i)
    ratios.push_back(samples[0][i] / samples[1][i]);
  std::tie(comparison.low, comparison.high) = worker::bootstrapMedian(ratios);
  comparison.ratio = worker::summarize(ratios).medianNs;
  comparison.first = measurementOf(std::move(samples[0]));
  comparison.second = measurementOf(std::move(samples[1]));
  return ComparisonOutcome(std::move(comparison));
}

} // namespace autotune
