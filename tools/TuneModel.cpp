// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/TuneModel.h"

#include "runtime/worker/WorkerMeasurer.h"
#include "schedule/Algorithm.h"
#include "schedule/Errors.h"
#include "tools/Codegen.h"
#include "tools/HistoryLog.h"
#include "tools/MeasuredKernels.h"
#include "tools/MemoryCheck.h"
#include "tools/RegionTimer.h"
#include "tools/Target.h"
#include "tools/Worker.h"
#include "tuner/Records.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <numeric>

namespace autotune {
namespace {

using std::chrono::milliseconds;

/// True if `word` of --ops is the operator's type, whatever algorithm computes it, or stands in the names of
/// its nodes.
bool isMeant(llvm::StringRef word, const UniqueKernel &kernel) {
  if (!kernel.workload)
    return false;
  llvm::StringRef kind = kernel.workload->kind, type = kind;
  if (winogradOutputs(kind) > 0)
    type = kind.split('_').second;
  return word.equals_insensitive(kind) || word.equals_insensitive(type) ||
         llvm::StringRef(kernel.label).contains(word);
}

} // namespace

ModelTuner::ModelTuner(const ImportedModel &model, const TuneOptions &options, Progress &progress)
    : model(model), options(options), display(progress),
      compiler(options.device, unsigned(options.device.cores)) {
  target = {targetThreads(options.config.target, options.device), targetNumerics(options.config.target),
            options.config.subgraph.partition, /*useModelRecord=*/true};
}

ModelTuner::~ModelTuner() {
  if (!folder.empty())
    llvm::sys::fs::remove_directories(folder);
}

llvm::Expected<std::unique_ptr<ModelTuner>>
ModelTuner::create(const ImportedModel &model, const TuneOptions &options, Progress &progress) {
  std::unique_ptr<ModelTuner> tuner(new ModelTuner(model, options, progress));
  if (llvm::Error error = tuner->open())
    return error;
  return tuner;
}

llvm::Error ModelTuner::open() {
  llvm::Expected<std::unique_ptr<Knowledge>> records =
      Knowledge::open(options.config.repository, options.device, Knowledge::Access::Write);
  if (!records)
    return records.takeError();
  knowledge = std::move(*records);
  untunedKnowledge = Knowledge::none(options.device);
  if (llvm::Error error = knowledge->repository()->putDevice(options.device))
    return error;
  llvm::Expected<History> history = History::open(historyPath(options.config.repository.history));
  if (!history)
    return history.takeError();
  log = std::make_unique<HistoryLog>(std::move(*history), options.device.key());
  llvm::SmallString<128> path;
  if (std::error_code error = llvm::sys::fs::createUniqueDirectory("autotune", path))
    return makeError("temporary folder: {0}", error.message());
  folder = path.str().str();
  return llvm::Error::success();
}

llvm::Expected<TuneResult> ModelTuner::run(const std::string &path) {
  auto start = std::chrono::steady_clock::now();
  budget = std::make_unique<Budget>(searchLimits(options.config.budget), options.stop);
  result.model = model.name;
  result.device = options.device;
  result.threads = target.threads;
  result.modes = options.config.mode;
  for (size_t i = 0; i < model.profiles.size() && !isInterrupted(); ++i)
    if (llvm::Error error = tuneProfile(i))
      return error;
  result.measurements = budget->trials();
  result.interrupted = isInterrupted();
  if (!result.interrupted) {
    ScheduleTable schedules;
    std::vector<const ModelPlan *> plans;
    for (const ChosenProfile &profile : profiles) {
      plans.push_back(&profile.plan);
      result.memory.add(profile.plan.arenaBytes, profile.plan.tensorBytes, profile.plan.constantsBytes);
      schedules.insert(profile.schedules.begin(), profile.schedules.end());
    }
    showStage("writing the compiled model");
    if (llvm::Error error = compiler.compile(plans, scheduleLookup(schedules),
                                             {model.name, AUTOTUNE_VERSION, options.device, target.threads,
                                              target.keepDenormals(), scheduleSources(schedules)},
                                             path))
      return error;
  }
  result.tuningSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return std::move(result);
}

/// A model with a record is measured again only if a pass is asked for that was not part of it, or on
/// --retune.
bool ModelTuner::isDone(const ChosenProfile &chosen) const {
  if (!chosen.record || options.config.repository.retune)
    return false;
  const Modes &wanted = options.config.mode, &had = chosen.recordModes;
  return (had.subgraph || !wanted.subgraph) && (had.operators || !wanted.operators);
}

llvm::Error ModelTuner::tuneProfile(size_t index) {
  ChoiceTarget untunedTarget = target;
  untunedTarget.partitionFile.clear();
  llvm::Expected<ChosenProfile> before = chooseProfile(model, index, *untunedKnowledge, untunedTarget);
  if (!before)
    return before.takeError();
  if (llvm::Error error = checkMemory(model, before->plan))
    return error;
  untuned.push_back(std::move(*before));
  llvm::Expected<ChosenProfile> chosen = chooseProfile(model, index, *knowledge, target);
  if (!chosen)
    return chosen.takeError();
  result.lookup += chosen->lookup();
  if (isDone(*chosen)) {
    result.untuned = {result.untuned.ms + chosen->record->untunedMs(), TimeSource::Stored};
    result.tuned = {result.tuned.ms + chosen->record->tunedMs(), TimeSource::Stored};
    display.message(model.name + ": already tuned, nothing is measured; --retune searches again");
    addEntries(*chosen);
    profiles.push_back(std::move(*chosen));
    return llvm::Error::success();
  }
  modesBefore = chosen->recordModes;
  if (chosen->record) {
    ChoiceTarget fresh = target;
    fresh.useModelRecord = false;
    chosen = chooseProfile(model, index, *knowledge, fresh);
    if (!chosen)
      return chosen.takeError();
  }
  if (options.config.mode.subgraph)
    if (llvm::Error error = tuneSubgraphs(*chosen, index))
      return error;
  if (options.config.mode.operators && !isInterrupted())
    if (llvm::Error error = tuneOperators(*chosen))
      return error;
  if (!isInterrupted())
    if (llvm::Error error = accept(*chosen, index))
      return error;
  addEntries(*chosen);
  profiles.push_back(std::move(*chosen));
  return llvm::Error::success();
}

std::vector<TuningTask> ModelTuner::makeTasks(ChosenProfile &chosen) {
  std::vector<TuningTask> wanted;
  const std::vector<std::string> &only = options.config.operators.only;
  for (const UniqueKernel &kernel : chosen.plan.kernels) {
    if (!kernel.workload)
      continue;
    const Workload &workload = *kernel.workload;
    bool selected =
        only.empty() || llvm::any_of(only, [&](const std::string &word) { return isMeant(word, kernel); });
    const ScheduleChoice &choice = chosen.schedules.at(workload.key());
    if (!selected || (choice.isHit() && !options.config.repository.retune))
      continue;
    TuningTask task;
    task.workload = workload;
    task.weight = kernel.occurrences;
    task.untuned = untunedKnowledge->resolver().schedule(workload).schedule;
    task.seeds = knowledge->resolver().seeds(workload);
    if (choice.schedule != task.untuned)
      task.seeds.insert(task.seeds.begin(), choice.schedule);
    wanted.push_back(std::move(task));
  }
  return wanted;
}

llvm::Error ModelTuner::searchOperators(const ChosenProfile &chosen, llvm::ArrayRef<TuningTask> wanted) {
  llvm::Expected<std::map<std::string, MeasuredKernel>> kernels = measuredKernels(chosen.plan);
  if (!kernels)
    return kernels.takeError();
  worker::PipelineOptions pipelineOptions;
  pipelineOptions.command = workerCommand(options.device.isa);
  int spare = options.device.cores - target.threads;
  pipelineOptions.overlap = spare > 0;
  pipelineOptions.compileWorkers = std::max(1, spare > 0 ? spare : options.device.cores);
  auto pipeline = worker::CandidatePipeline::create(pipelineOptions);
  if (!pipeline)
    return pipeline.takeError();
  WorkerMeasurer measurer(std::move(*pipeline),
                          [&](const Workload &workload) -> llvm::Expected<MeasuredKernel> {
                            return kernels->at(workload.key());
                          });
  OperatorTunerOptions tunerOptions;
  tunerOptions.batch = size_t(std::max<int64_t>(1, options.config.operators.batch));
  tunerOptions.seed = uint64_t(options.config.operators.seed);
  OperatorTuner tuner(measurer, knowledge->costModel(), options.device, log.get(), *this, tunerOptions);
  return tuner.run(wanted, *budget);
}

llvm::Error ModelTuner::tuneOperators(ChosenProfile &chosen) {
  for (const std::string &word : options.config.operators.only)
    if (llvm::none_of(chosen.plan.kernels, [&](const UniqueKernel &kernel) { return isMeant(word, kernel); }))
      return makeError("{0}: operators to tune: found no node or type `{1}`, expected one of the model's",
                       model.path, word);
  std::vector<TuningTask> wanted = makeTasks(chosen);
  if (wanted.empty())
    return llvm::Error::success();
  if (llvm::Error error = searchOperators(chosen, wanted))
    return error;
  for (const TuningTask &task : wanted) {
    auto done = tasks.find(task.workload.key());
    if (done == tasks.end() || !done->second.isMeasured())
      continue;
    ScheduleChoice &choice = chosen.schedules.at(done->first);
    choice.schedule = done->second.schedule;
    choice.source = ChoiceSource::Exact;
    choice.stale = false;
  }
  return llvm::Error::success();
}

void ModelTuner::addEntries(const ChosenProfile &chosen) {
  addRegionEntries(chosen);
  for (const UniqueKernel &kernel : chosen.plan.kernels) {
    if (!kernel.workload)
      continue;
    ResultEntry entry;
    entry.name = kernel.label;
    entry.kind = kernel.workload->kind;
    entry.key = kernel.workload->key();
    entry.count = kernel.occurrences;
    const ScheduleChoice &choice = chosen.schedules.at(entry.key);
    entry.choice = choice.schedule.text();
    auto done = tasks.find(entry.key);
    if (done != tasks.end() && done->second.isMeasured()) {
      entry.lookup = "search";
      entry.outcome = outcomeName(done->second.outcome);
      entry.beforeMs = done->second.comparison.first.medianNs / 1e6;
      entry.afterMs = done->second.comparison.second.medianNs / 1e6;
    } else {
      entry.lookup = choiceSourceName(choice.source);
      entry.outcome = choice.record ? outcomeName(choice.record->outcome).str() : "not tuned";
      if (choice.record) {
        entry.beforeMs = choice.record->untuned.medianNs / 1e6;
        entry.afterMs = choice.record->tuned.medianNs / 1e6;
      }
    }
    result.operators.push_back(std::move(entry));
  }
}

void ModelTuner::showStage(const char *stage) {
  ProgressState state;
  state.stage = stage;
  state.done = 1;
  display.update(state);
}

void ModelTuner::progress(const TuningProgress &state) {
  ProgressState shown;
  shown.stage = "operators";
  shown.tasksDone = int64_t(state.finishedTasks);
  shown.tasks = int64_t(state.tasks);
  shown.trials = state.trials;
  shown.bestMs = state.bestNs / 1e6;
  shown.untunedMs = state.untunedNs / 1e6;
  std::optional<milliseconds> left = budget->timeLeft();
  if (left) {
    shown.left = std::chrono::duration_cast<std::chrono::seconds>(*left);
    double elapsed = double(budget->elapsed().count());
    shown.done = elapsed / (elapsed + double(left->count()) + 1);
  } else if (options.config.budget.trials > 0) {
    shown.done = double(budget->trials()) / double(options.config.budget.trials);
  }
  display.update(shown);
}

llvm::Error ModelTuner::finished(const TaskResult &task) {
  std::string key = task.task->workload.key();
  for (const auto &[what, count] : task.failures)
    result.failures.push_back({what.first, what.second, count});
  if (task.isMeasured())
    if (llvm::Error error = put(operatorRecord(task, options.device, provenance())))
      return error;
  TaskResult &kept = tasks[key] = task;
  kept.task = nullptr;
  return llvm::Error::success();
}

Provenance ModelTuner::provenance() const {
  Provenance provenance;
  provenance.toolVersion = AUTOTUNE_VERSION;
  provenance.codegen = currentCodegen("");
  provenance.date = currentDate();
  provenance.seed = uint64_t(options.config.operators.seed);
  return provenance;
}

} // namespace autotune
