// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Candidates through worker processes: several that compile, one that measures.
#pragma once

#include "runtime/worker/Protocol.h"
#include "runtime/worker/WorkerProcess.h"

#include "llvm/ADT/ArrayRef.h"

#include <deque>
#include <map>
#include <memory>

namespace autotune::worker {

struct PipelineOptions {
  /// Starts a worker; its options are appended.
  std::vector<std::string> command = {"/proc/self/exe", "worker"};
  /// Processes that compile.
  int compileWorkers = 1;
  /// Compile while measuring. Off when the model's threads take all cores: then a batch is compiled first.
  bool overlap = true;
  /// Address space of a worker; 0: three quarters of the machine's memory.
  int64_t memoryLimitBytes = 0;
  Clock::duration compileLimit = std::chrono::seconds(20);
  /// Loading, running and keeping the reference of a task, which may be plain scalar loops.
  Clock::duration referenceLimit = std::chrono::seconds(120);
  /// A measurement, while nothing is known of its task's speed.
  Clock::duration firstMeasureLimit = std::chrono::seconds(30);
  /// A measurement may always take this long.
  Clock::duration leastMeasureLimit = std::chrono::seconds(2);
  /// A run that takes this many times the best of its task so far is cut to one sample.
  double slowFactor = 4;
  TimingLimits timing;
  int confirmPairs = 15;
};

/// Each outcome is a Timing or a WorkerFailure. One crash, hang or runaway costs one candidate: its worker is
/// killed and started again. Not thread-safe; see WorkerProcess about the thread that may use it.
class CandidatePipeline {
public:
  /// Error: no temporary folder.
  static llvm::Expected<std::unique_ptr<CandidatePipeline>> create(PipelineOptions options);
  ~CandidatePipeline();

  /// One outcome a schedule, in order. Error: worker processes cannot be started at all.
  llvm::Expected<std::vector<Reply>> measure(const KernelTask &task, llvm::ArrayRef<std::string> schedules);
  /// PairedTiming of two schedules (ratio above 1: the second is faster), or a WorkerFailure.
  llvm::Expected<Reply> confirm(const KernelTask &task, const std::string &first, const std::string &second);

  /// Process ids of the workers that run now.
  std::vector<int> workerPids() const;

private:
  struct Job;
  struct Batch;
  explicit CandidatePipeline(PipelineOptions options, std::string folder);

  llvm::Error run(const KernelTask &task, Batch &batch);
  llvm::Error serve(const KernelTask &task, Batch &batch, std::span<WorkerProcess *const> workers);
  llvm::Error startBuilds(const KernelTask &task, Batch &batch);
  llvm::Error startMeasuring(const KernelTask &task, Batch &batch);
  void collectBuilds(Batch &batch);
  void collectMeasurement(const KernelTask &task, Batch &batch);
  /// The library or a failure; null while it is being built. From `batch` it moves to `references`.
  const Reply *findReference(const KernelTask &task, Batch &batch);
  bool prepared(const KernelTask &task) const;
  Request measuringRequest(const KernelTask &task, const Batch &batch, const Job &job) const;
  Clock::duration measureLimit(const KernelTask &task) const;
  void removeFiles(Batch &batch);

  PipelineOptions options;
  std::string folder; // of the shared libraries; removed at the end
  std::vector<std::unique_ptr<WorkerProcess>> builders;
  std::unique_ptr<WorkerProcess> measurer;
  int64_t nextFile = 0;
  std::string preparedTask; // in the measurer of `preparedGeneration`
  int preparedGeneration = -1;
  std::map<std::string, Reply> references; // by task: the library, or why there is none
  std::map<std::string, double> bestNs;    // by task
};

} // namespace autotune::worker
