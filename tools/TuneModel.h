// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tunes one model: layouts, then operators, then the whole, with every winner recorded as soon as it is
// known.
#pragma once

#include "runtime/deploy/Model.h"
#include "tools/ChooseModel.h"
#include "tools/Config.h"
#include "tools/Progress.h"
#include "tools/ResultFile.h"
#include "tuner/OperatorTuner.h"
#include "tuner/SubgraphSearch.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

namespace autotune {

class RegionTimer;

struct TuneOptions {
  Config config;
  Device device;
  const std::atomic<bool> *stop = nullptr; // set: end as soon as what is known is kept
};

/// A budget without what compiling and verifying the whole model takes at the end.
BudgetLimits searchLimits(const BudgetConfig &config);

class ModelTuner : private TuningListener {
public:
  /// Opens (or makes) the repository and history. All arguments outlive the tuner. Errors: either cannot be
  /// used.
  static llvm::Expected<std::unique_ptr<ModelTuner>> create(const ImportedModel &model,
                                                            const TuneOptions &options, Progress &progress);
  ~ModelTuner() override;

  /// Tunes every profile and writes the compiled model to `path`. After a stop by the user nothing is
  /// compiled; what was found is in the records, and `interrupted` is set.
  llvm::Expected<TuneResult> run(const std::string &path);

private:
  ModelTuner(const ImportedModel &model, const TuneOptions &options, Progress &progress);
  llvm::Error open();

  bool isDone(const ChosenProfile &chosen) const;
  llvm::Error tuneProfile(size_t index);
  /// False: the budget ended first.
  llvm::Expected<bool> tuneRegion(ChosenRegion &decided, RegionTimer &timer, Budget &share);
  /// Settles what has no record yet, as long as the budget lasts. True if a choice changed.
  llvm::Expected<bool> tuneRegions(const char *stage, std::vector<ChosenRegion *> regions, RegionTimer &timer,
                                   Budget &share);
  llvm::Error tuneSubgraphs(ChosenProfile &chosen, size_t index);
  llvm::Error tuneOperators(ChosenProfile &chosen);
  std::vector<TuningTask> makeTasks(ChosenProfile &chosen);
  llvm::Error searchOperators(const ChosenProfile &chosen, llvm::ArrayRef<TuningTask> tasks);
  llvm::Error accept(ChosenProfile &chosen, size_t index);
  llvm::Expected<Comparison> verify(const ChosenProfile &candidate, size_t index);
  llvm::Error recordModel(const ChosenProfile &chosen, size_t index, const Comparison &comparison,
                          bool improved);
  llvm::Expected<std::shared_ptr<const deploy::Model>> build(const ChosenProfile &chosen);
  void addEntries(const ChosenProfile &chosen);
  void addRegionEntries(const ChosenProfile &chosen);
  void showStage(const char *stage);

  void progress(const TuningProgress &state) override;
  llvm::Error finished(const TaskResult &task) override;

  template <typename Record> llvm::Error put(const Record &record);
  Provenance provenance() const;
  bool isInterrupted() const { return options.stop && options.stop->load(); }

  const ImportedModel &model;
  const TuneOptions &options;
  Progress &display;
  ChoiceTarget target;
  std::unique_ptr<Knowledge> knowledge, untunedKnowledge;
  std::unique_ptr<MeasurementLog> log;
  ModelCompiler compiler;
  std::unique_ptr<Budget> budget;
  std::string folder; // for programs that are only timed
  int builds = 0;     // made in `folder`
  std::vector<ChosenProfile> profiles, untuned;
  std::map<std::string, TaskResult> tasks; // finished, by workload key; their `task` is gone
  Modes modesBefore{false, false};         // of the record that the current profile had
  TuneResult result;
};

template <typename Record> llvm::Error ModelTuner::put(const Record &record) {
  llvm::Expected<PutResult> stored = knowledge->repository()->put(record);
  if (!stored)
    return stored.takeError();
  switch (*stored) {
  case PutResult::Added:
    ++result.records.added;
    break;
  case PutResult::Improved:
    ++result.records.improved;
    break;
  case PutResult::Kept:
    ++result.records.kept;
    break;
  }
  return llvm::Error::success();
}

} // namespace autotune
