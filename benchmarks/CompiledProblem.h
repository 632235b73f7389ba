// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A compiled problem in the deployed runtime.
#pragma once

#include "benchmarks/TimedOperator.h"
#include "runtime/deploy/Session.h"

#include <string>
#include <vector>

namespace autotune::benchmarks {

/// A loaded artifact with buffers of its own, which hold zeros until they are set.
class CompiledProblem : public TimedOperator {
public:
  /// `counted[s]`: step s is part of the time. Throws deploy::RuntimeError.
  CompiledProblem(const std::string &path, std::vector<bool> counted, int threads);
  /// As many inputs and values as the model has. The buffers keep them.
  void setInputs(const std::vector<std::vector<float>> &values);
  RunTimes run() override;
  std::vector<float> output() const override;

private:
  /// Buffers start at cache lines, as those in an arena do.
  struct alignas(64) Line {
    float values[16];
  };

  void *makeBuffer(const deploy::TensorSpec &spec);

  deploy::Session session;
  std::vector<bool> counted;
  std::vector<std::vector<Line>> buffers;
  std::vector<const void *> inputs;
  std::vector<void *> outputs;
  std::vector<int64_t> stepNs;
};

} // namespace autotune::benchmarks
