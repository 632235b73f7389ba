// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The measuring half of a worker: one current task, its reference outputs, and candidates checked against
// them.
#pragma once

#include "runtime/deploy/ThreadTeam.h"
#include "runtime/worker/KernelTimer.h"
#include "runtime/worker/Protocol.h"
#include "runtime/worker/TaskBuffers.h"

#include <memory>
#include <optional>
#include <vector>

namespace autotune::worker {

class CandidateRunner {
public:
  /// Buffers of a task may not take more than `memoryLimitBytes` (0: any).
  explicit CandidateRunner(int64_t memoryLimitBytes) : memoryLimitBytes(memoryLimitBytes) {}

  Reply prepare(const PrepareRequest &request);
  Reply measure(const MeasureRequest &request);
  Reply confirm(const ConfirmRequest &request);

private:
  struct Library;
  struct Current {
    KernelTask task;
    TaskBuffers buffers;
    std::unique_ptr<deploy::ThreadTeam> team;
    std::vector<std::vector<std::byte>> reference; // one an output
  };

  struct CheckedRun {
    std::optional<WorkerFailure> failure;
    CheckMetrics metrics;
    int64_t runNs = 0;
  };
  /// Runs once from cleared outputs and compares.
  CheckedRun check(const LoadedKernel &kernel);

  int64_t memoryLimitBytes;
  std::optional<Current> current;
};

} // namespace autotune::worker
