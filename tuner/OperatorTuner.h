// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tunes the operators of a model under one budget.
#pragma once

#include "cost_model/CostModel.h"
#include "knowledge_base/Record.h"
#include "schedule/Device.h"
#include "tuner/Budget.h"
#include "tuner/EvolutionarySearch.h"
#include "tuner/Measurer.h"
#include "tuner/TaskScheduler.h"

#include "llvm/Support/Error.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace autotune {

struct TuningTask {
  Workload workload;
  int64_t weight = 1; // occurrences in the model
  Schedule untuned;   // what the model would get without measuring: the baseline; a member of the space
  std::vector<Schedule> seeds; // more to try first: stale and near records
};

/// How the search of a task ended.
struct TaskResult {
  const TuningTask *task = nullptr;
  SearchOutcome outcome = SearchOutcome::DefaultBest;
  Schedule schedule;     // the winner; the untuned one for `DefaultBest`
  Comparison comparison; // untuned against winner; against itself for `DefaultBest`
  int64_t trials = 0;    // candidates that were measured or failed, earlier runs included
  std::map<std::pair<std::string, std::string>, int64_t> failures; // by stage and first line of the reason

  /// False if the untuned schedule itself failed: there is nothing to record.
  bool isMeasured() const { return comparison.first.runs > 0; }
};

using TrialOutcome = std::pair<Schedule, Outcome>;

/// Where measurements are kept from run to run.
class MeasurementLog {
public:
  virtual ~MeasurementLog() = default;
  /// What is known of the workload on this device from this code generator.
  virtual llvm::Expected<std::vector<TrialOutcome>> load(const Workload &workload) = 0;
  /// On disk when it returns.
  virtual llvm::Error add(const Workload &workload, llvm::ArrayRef<TrialOutcome> trials) = 0;
};

struct TuningProgress {
  size_t tasks = 0, finishedTasks = 0;
  int64_t trials = 0;   // of this run
  size_t current = 0;   // task that was just measured
  double untunedNs = 0; // sum of weight times time, tasks as they were before tuning
  double bestNs = 0;    // the same with the best measured so far
};

/// What a run tells while it goes on.
class TuningListener {
public:
  virtual ~TuningListener() = default;
  virtual void progress(const TuningProgress &progress) = 0;
  /// Called as soon as a task is finished: the place to write its record. An error ends the run.
  virtual llvm::Error finished(const TaskResult &result) = 0;
};

struct OperatorTunerOptions {
  size_t batch = 8; // candidates that are compiled and measured together
  uint64_t seed = 1;
  int confirmations = 2; // candidates that may try to beat the untuned one before it stays
  std::chrono::milliseconds confirmTime{500}; // first guess of what a confirmation takes
  TaskSchedulerOptions scheduler;
};

class OperatorTuner {
public:
  /// All references outlive the tuner; `log` may be null.
  OperatorTuner(Measurer &measurer, const CostModel &model, const Device &device, MeasurementLog *log,
                TuningListener &listener, OperatorTunerOptions options = {})
      : measurer(measurer), model(model), device(device), log(log), listener(listener), options(options) {}

  /// Tunes until the gains dry up or the budget ends; then every task that had a round is finished. After a
  /// stop by the user nothing more is measured: unfinished tasks go on from the log in the next run.
  llvm::Error run(llvm::ArrayRef<TuningTask> tasks, Budget &budget);

private:
  struct Search;

  llvm::Error resume(std::vector<Search> &searches, TaskScheduler &scheduler);
  llvm::Error round(std::vector<Search> &searches, size_t index, TaskScheduler &scheduler, Budget &budget);
  llvm::Error finish(Search &search);
  llvm::Expected<std::optional<Comparison>> confirmBest(Search &search);
  llvm::Error measureUntuned(Search &search);
  llvm::Error record(Search &search, llvm::ArrayRef<TrialOutcome> trials);
  std::chrono::milliseconds reserve(const std::vector<Search> &searches) const;
  void report(const std::vector<Search> &searches, size_t current, const Budget &budget);

  Measurer &measurer;
  const CostModel &model;
  Device device;
  MeasurementLog *log;
  TuningListener &listener;
  OperatorTunerOptions options;
  std::chrono::milliseconds confirming{0};
  int64_t confirmed = 0;
};

} // namespace autotune
