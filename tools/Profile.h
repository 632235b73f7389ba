// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the time of a model goes: its steps timed over several runs.
#pragma once

#include "tools/Benchmark.h"
#include "tools/MemoryUse.h"

#include <memory>
#include <string>
#include <vector>

namespace autotune {

/// One kernel of the model, with all steps that call it.
struct KernelProfile {
  deploy::KernelSpec kernel;
  std::vector<std::string> labels; // of the steps, in the order in which they run
  double ns = 0;                   // of all its steps: the sum of their medians

  double calls() const { return double(labels.size()); }
  /// Of operations that stand for arithmetic: products and sums. 0 for all else.
  double gflops() const;
  double gbs() const;
};

struct StepProfile {
  std::string label;
  size_t kernel = 0; // in ModelProfile::kernels
  double medianNs = 0;
  double typicalNs = 0; // in the run that took the median time
};

struct ModelProfile {
  std::string model;
  int threads = 1;
  size_t runs = 0;
  Latency latency;       // of the timed runs
  double peakGflops = 0; // of f32 multiply-adds on all threads, measured between the runs; 0: not known
  MemoryUse memory;
  std::vector<StepProfile> steps;
  std::vector<KernelProfile> kernels; // most time first

  /// Sum over all steps; the rest of the latency is calls and clocks.
  double stepsNs() const;
};

/// Runs the first profile of `model` for as long as `options` say. Throws deploy::RuntimeError.
ModelProfile profileModel(const std::shared_ptr<const deploy::Model> &model, int threads,
                          const BenchmarkOptions &options);

/// Groups `steps` (in the order in which they run) by their kernels. `kernels` are those of the manifest, to
/// which `StepProfile::kernel` refers before and to `ModelProfile::kernels` after.
void groupByKernel(ModelProfile &profile, const std::vector<deploy::KernelSpec> &kernels);

/// What a loaded model takes, at most, over its profiles.
MemoryUse memoryUse(const deploy::Manifest &manifest);

} // namespace autotune
