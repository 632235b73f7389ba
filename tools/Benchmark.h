// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times whole inferences of loaded models.
#pragma once

#include "frontend/TensorFolder.h"
#include "runtime/deploy/Session.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace autotune {

struct Latency {
  double minMs = 0, medianMs = 0, p90Ms = 0;
};

/// Order statistics of `samples` (not empty), given in nanoseconds.
Latency summarize(std::vector<double> samplesNs);

/// A session with buffers of its own: floats uniform in [-1, 1), everything else zero (a legal index in any
/// model).
class BenchmarkRun {
public:
  /// Throws deploy::RuntimeError.
  BenchmarkRun(std::shared_ptr<const deploy::Model> model, size_t profile, int threads);
  /// One inference, timed.
  double timeNs();
  /// The same; `steps` has one place for each step of the profile and receives their times.
  double timeStepsNs(std::span<int64_t> steps);
  int threads() const { return session.threads(); }
  /// Copies of what the last run wrote.
  std::vector<HostTensor> outputTensors() const;

private:
  deploy::Session session;
  size_t profile;
  std::vector<std::vector<std::byte>> buffers;
  std::vector<const void *> inputs;
  std::vector<void *> outputs;
};

struct BenchmarkOptions {
  size_t minRuns = 20;
  double seconds = 1.5; // of measuring, each program; more runs are made until it is over
  double warmUpSeconds = 0.3;
};

/// Times all `programs` in turn (A B A B …), so that a change of the machine's clock meets each alike; one
/// result for each.
std::vector<std::vector<double>> timeInterleaved(const std::vector<BenchmarkRun *> &programs,
                                                 const BenchmarkOptions &options);

/// {"schema_version":1,"model":…,"threads":…,"runs":…,"latency_ms":{"min":…,"median":…,"p90":…}}
llvm::json::Object benchmarkJson(const std::string &model, int threads, size_t runs, const Latency &latency);

} // namespace autotune
