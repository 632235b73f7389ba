// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A quick look at each; it cannot tell neighbours apart on a busy machine, so the best meet in a final.
#include "benchmarks/ScheduleSearch.h"

#include "benchmarks/Statistics.h"
#include "benchmarks/Turns.h"
#include "schedule/Errors.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

namespace autotune::benchmarks {
namespace {

constexpr size_t kFinalists = 8;
constexpr int kQuickRuns = 8;

class Search {
public:
  Search(mlir::MLIRContext &context, const SearchOptions &options) : context(context), options(options) {}

  llvm::Error tryProblem(const Problem &problem, size_t trials);
  llvm::Expected<SearchResult> finish(const Device &device);

private:
  llvm::Error tryOne(ProblemCompiler &compiler, const Schedules &schedules, size_t rank);
  void add(Trial trial);

  mlir::MLIRContext &context;
  const SearchOptions &options;
  std::vector<Trial> finalists;
  size_t tried = 0;
  double firstNs = 0;
};

llvm::Error Search::tryProblem(const Problem &problem, size_t trials) {
  auto compiler = ProblemCompiler::create(context, problem);
  if (!compiler)
    return compiler.takeError();
  std::vector<Schedules> choices = options.fixed
                                       ? std::vector<Schedules>{(*compiler)->withContractions(*options.fixed)}
                                       : (*compiler)->choices(trials);
  for (size_t i = 0; i < std::min(trials, choices.size()); ++i)
    if (llvm::Error error = tryOne(**compiler, choices[i], i + 1))
      return error;
  return llvm::Error::success();
}

llvm::Error Search::tryOne(ProblemCompiler &compiler, const Schedules &schedules, size_t rank) {
  Trial trial;
  trial.problem = compiler.name();
  trial.schedules = compiler.text(schedules);
  trial.rank = rank;
  trial.path = options.path + "." + std::to_string(tried++);
  auto program = compiler.compile(schedules, trial.path);
  if (!program)
    return program.takeError();
  trial.program = std::move(*program);
  trial.quickNs = shortestNs(*trial.program, kQuickRuns, options.threads);
  if (options.verbose)
    llvm::errs() << llvm::formatv("{0,9:f1} us  {1}: {2}\n", trial.quickNs / 1e3, trial.problem,
                                  trial.schedules);
  if (rank == 1)
    firstNs = firstNs == 0 ? trial.quickNs : std::min(firstNs, trial.quickNs);
  add(std::move(trial));
  return llvm::Error::success();
}

void Search::add(Trial trial) {
  finalists.push_back(std::move(trial));
  if (finalists.size() <= kFinalists)
    return;
  auto slowest = std::max_element(finalists.begin(), finalists.end(),
                                  [](const Trial &a, const Trial &b) { return a.quickNs < b.quickNs; });
  llvm::sys::fs::remove(slowest->path);
  finalists.erase(slowest);
}

llvm::Expected<SearchResult> Search::finish(const Device &device) {
  size_t best = 0;
  if (finalists.size() > 1) {
    std::vector<TimedOperator *> programs;
    for (Trial &trial : finalists)
      programs.push_back(trial.program.get());
    TurnOptions turns{device.isa, options.threads, options.finalRounds};
    std::vector<double> medians;
    for (const std::vector<double> &ns : timeInTurns(programs, turns).ns)
      medians.push_back(median(ns));
    best = size_t(std::min_element(medians.begin(), medians.end()) - medians.begin());
  }
  for (size_t i = 0; i < finalists.size(); ++i)
    if (i != best)
      llvm::sys::fs::remove(finalists[i].path);
  Trial &winner = finalists[best];
  if (std::error_code error = llvm::sys::fs::rename(winner.path, options.path))
    return makeError("{0}: {1}", options.path, error.message());
  return SearchResult{std::move(winner), tried, firstNs};
}

} // namespace

llvm::Expected<SearchResult> searchSchedules(mlir::MLIRContext &context, std::vector<Problem> problems,
                                             const SearchOptions &options) {
  Search search(context, options);
  size_t trials = std::max<size_t>(1, options.trials / problems.size());
  for (const Problem &problem : problems)
    if (llvm::Error error = search.tryProblem(problem, trials))
      return error;
  return search.finish(problems.front().device);
}

} // namespace autotune::benchmarks
