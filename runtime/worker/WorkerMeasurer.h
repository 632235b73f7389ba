// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tuner's Measurer over worker processes.
#pragma once

#include "runtime/worker/CandidatePipeline.h"
#include "tuner/Measurer.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>

namespace autotune {

/// What measuring a workload needs beside its schedules.
struct MeasuredKernel {
  std::string text;                    // MLIR of the kernel, as the builder in the worker takes it
  std::vector<worker::KernelArg> args; // in the order of the kernel's arguments
  std::optional<Schedule> reference;   // the build whose outputs are right; none: plain scalar loops
  int64_t streamedWeightBytes = 0;     // see worker::KernelTask
};

/// Asked once for each workload. Error: there is no such kernel; it ends the search that asked.
using KernelSource = std::function<llvm::Expected<MeasuredKernel>(const Workload &)>;

/// Not thread-safe, and tied to the thread that uses it: see worker::WorkerProcess.
class WorkerMeasurer : public Measurer {
public:
  WorkerMeasurer(std::unique_ptr<worker::CandidatePipeline> pipeline, KernelSource source)
      : pipeline(std::move(pipeline)), source(std::move(source)) {}

  llvm::Expected<std::vector<Outcome>> measure(const Workload &workload,
                                               llvm::ArrayRef<Schedule> schedules) override;
  llvm::Expected<ComparisonOutcome> confirm(const Workload &workload, const Schedule &first,
                                            const Schedule &second) override;

private:
  llvm::Expected<const worker::KernelTask *> findTask(const Workload &workload);

  std::unique_ptr<worker::CandidatePipeline> pipeline;
  KernelSource source;
  std::map<std::string, worker::KernelTask> tasks; // by workload key
};

} // namespace autotune
