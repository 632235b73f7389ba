// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The run loop: rounds to the most promising task, confirmation, results.
#include "tuner/OperatorTuner.h"

#include "cost_model/AnalyticalModel.h"
#include "tuner/Acceptance.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/xxhash.h"

#include <cassert>
#include <memory>
#include <tuple>

using namespace autotune;

/// The search of one task and what it found.
struct OperatorTuner::Search {
  Search(const TuningTask &task, const Device &device, const CostModel &model,
         const EvolutionOptions &options)
      : task(&task), space(std::make_unique<Space>(buildSpace(task.workload, device))),
        walk(task.workload, *space), untunedNest(walk.nestKey(task.untuned)) {
    std::vector<Schedule> seeds = {task.untuned};
    seeds.insert(seeds.end(), task.seeds.begin(), task.seeds.end());
    evolution = std::make_unique<EvolutionarySearch>(task.workload, *space, model, options, seeds);
    result.task = &task;
    result.schedule = task.untuned;
  }

  bool isUntuned(const Schedule &schedule) const { return walk.nestKey(schedule) == untunedNest; }
  std::optional<double> bestNs() const {
    if (!evolution->best())
      return std::nullopt;
    return evolution->best()->measurement.medianNs;
  }

  const TuningTask *task;
  std::unique_ptr<Space> space; // the search refers to it: it must not move
  SpaceWalk walk;
  std::string untunedNest;
  std::unique_ptr<EvolutionarySearch> evolution;
  std::vector<std::pair<Schedule, Measurement>> measured;
  std::optional<Measurement> untuned;
  double predictedNs = 0;
  TaskResult result;
  bool finished = false;
};

static std::string firstLine(llvm::StringRef text) { return text.split('\n').first.trim().str(); }

/// Takes note of trials, whether of this run or an earlier one.
llvm::Error OperatorTuner::record(Search &search, llvm::ArrayRef<TrialOutcome> trials) {
  for (const auto &[schedule, outcome] : trials) {
    if (!search.walk.contains(schedule))
      continue;
    ++search.result.trials;
    search.evolution->observe(schedule, outcome);
    if (const auto *failure = std::get_if<Failure>(&outcome)) {
      ++search.result.failures[{failure->stage, firstLine(failure->reason)}];
      continue;
    }
    const Measurement &measurement = std::get<Measurement>(outcome);
    search.measured.emplace_back(schedule, measurement);
    if (search.isUntuned(schedule))
      search.untuned = measurement;
  }
  return llvm::Error::success();
}

llvm::Error OperatorTuner::resume(std::vector<Search> &searches, TaskScheduler &scheduler) {
  if (!log)
    return llvm::Error::success();
  for (size_t i = 0; i < searches.size(); ++i) {
    llvm::Expected<std::vector<TrialOutcome>> trials = log->load(searches[i].task->workload);
    if (!trials)
      return trials.takeError();
    if (llvm::Error error = record(searches[i], *trials))
      return error;
    if (searches[i].result.trials >= int64_t(options.batch))
      scheduler.report(i, searches[i].bestNs());
  }
  return llvm::Error::success();
}

llvm::Error OperatorTuner::round(std::vector<Search> &searches, size_t index, TaskScheduler &scheduler,
                                 Budget &budget) {
  Search &search = searches[index];
  std::vector<Schedule> batch = search.evolution->propose(size_t(budget.clampTrials(int64_t(options.batch))));
  if (!batch.empty()) {
    llvm::Expected<std::vector<Outcome>> outcomes = measurer.measure(search.task->workload, batch);
    if (!outcomes)
      return outcomes.takeError();
    assert(outcomes->size() == batch.size() && "expected one outcome for each candidate");
    std::vector<TrialOutcome> trials;
    for (auto [schedule, outcome] : llvm::zip(batch, *outcomes))
      trials.emplace_back(schedule, outcome);
    budget.addTrials(int64_t(trials.size()));
    if (log)
      if (llvm::Error error = log->add(search.task->workload, trials))
        return error;
    if (llvm::Error error = record(search, trials))
      return error;
  }
  scheduler.report(index, search.bestNs());
  if (batch.empty() || scheduler.isDry(index)) {
    scheduler.finish(index);
    if (budget.isStopped())
      return llvm::Error::success();
    return finish(search);
  }
  return llvm::Error::success();
}

/// The untuned schedule's time is part of every result; an earlier run may have died before measuring it.
llvm::Error OperatorTuner::measureUntuned(Search &search) {
  if (search.untuned)
    return llvm::Error::success();
  llvm::Expected<std::vector<Outcome>> outcomes =
      measurer.measure(search.task->workload, {search.task->untuned});
  if (!outcomes)
    return outcomes.takeError();
  return record(search, {{search.task->untuned, outcomes->front()}});
}

/// The comparison of the first of the fastest candidates that beats the untuned one outside the noise. Its
/// schedule becomes the result's.
llvm::Expected<std::optional<Comparison>> OperatorTuner::confirmBest(Search &search) {
  llvm::sort(search.measured, [](const auto &a, const auto &b) {
    return std::tie(a.second.medianNs, a.first) < std::tie(b.second.medianNs, b.first);
  });
  int tried = 0;
  for (const auto &[schedule, measurement] : search.measured) {
    if (search.isUntuned(schedule) || tried++ == options.confirmations)
      break;
    auto start = Budget::Clock::now();
    llvm::Expected<ComparisonOutcome> outcome =
        measurer.confirm(search.task->workload, search.task->untuned, schedule);
    confirming += std::chrono::duration_cast<std::chrono::milliseconds>(Budget::Clock::now() - start);
    ++confirmed;
    if (!outcome)
      return outcome.takeError();
    if (const auto *failure = std::get_if<Failure>(&*outcome)) {
      ++search.result.failures[{failure->stage, firstLine(failure->reason)}];
      continue;
    }
    const Comparison &comparison = std::get<Comparison>(*outcome);
    if (isImprovement(comparison)) {
      search.result.schedule = schedule;
      return std::optional(comparison);
    }
  }
  return std::nullopt;
}

llvm::Error OperatorTuner::finish(Search &search) {
  search.finished = true;
  if (llvm::Error error = measureUntuned(search))
    return error;
  llvm::Expected<std::optional<Comparison>> better = confirmBest(search);
  if (!better)
    return better.takeError();
  if (*better) {
    search.result.outcome = SearchOutcome::Improved;
    search.result.comparison = **better;
  } else if (search.untuned) {
    search.result.comparison.first = search.result.comparison.second = *search.untuned;
  }
  return listener.finished(search.result);
}

/// Time that confirming what was found so far will take.
std::chrono::milliseconds OperatorTuner::reserve(const std::vector<Search> &searches) const {
  auto open = llvm::count_if(searches, [](const Search &s) { return !s.finished && s.result.trials > 0; });
  auto each = confirmed ? confirming / confirmed : options.confirmTime;
  return each * open;
}

void OperatorTuner::report(const std::vector<Search> &searches, size_t current, const Budget &budget) {
  TuningProgress progress;
  progress.tasks = searches.size();
  progress.trials = budget.trials();
  progress.current = current;
  for (const Search &search : searches) {
    progress.finishedTasks += search.finished;
    double weight = double(search.task->weight);
    double untuned = search.untuned ? search.untuned->medianNs : search.predictedNs;
    progress.untunedNs += weight * untuned;
    progress.bestNs += weight * std::min(untuned, search.bestNs().value_or(untuned));
  }
  listener.progress(progress);
}

llvm::Error OperatorTuner::run(llvm::ArrayRef<TuningTask> tasks, Budget &budget) {
  std::vector<Search> searches;
  std::vector<TaskScheduler::Task> shares;
  for (const TuningTask &task : tasks) {
    // A task's trace depends on its workload, not on its place in the list.
    EvolutionOptions evolution;
    evolution.seed = options.seed ^ llvm::xxh3_64bits(task.workload.text());
    Search &search = searches.emplace_back(task, device, model, evolution);
    CostQuery query = {&task.workload, &task.untuned};
    search.predictedNs = model.predict({&query, 1}).front();
    shares.push_back({double(task.weight), search.predictedNs, boundNs(task.workload, device)});
  }
  TaskScheduler scheduler(std::move(shares), options.scheduler);
  if (llvm::Error error = resume(searches, scheduler))
    return error;
  while (!budget.isUsedUp(reserve(searches))) {
    std::optional<size_t> index = scheduler.next();
    if (!index)
      break;
    if (llvm::Error error = round(searches, *index, scheduler, budget))
      return error;
    report(searches, *index, budget);
  }
  for (size_t i = 0; i < searches.size(); ++i) {
    if (budget.isStopped() || searches[i].finished || searches[i].result.trials == 0)
      continue;
    if (llvm::Error error = finish(searches[i]))
      return error;
    report(searches, i, budget);
  }
  return llvm::Error::success();
}
