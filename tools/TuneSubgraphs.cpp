// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The subgraph pass of a tuning run: the layout of each chain, then the algorithm of each convolution in its
// layout.
#include "tools/RegionTimer.h"
#include "tools/TuneModel.h"
#include "tuner/Records.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace autotune {
namespace {

using std::chrono::milliseconds;

/// Regions get at most half of what there is: the operators need the rest.
Budget regionBudget(const BudgetConfig &config, const std::atomic<bool> *stop) {
  BudgetLimits limits = searchLimits(config);
  if (limits.time)
    *limits.time /= 2;
  if (limits.trials)
    limits.trials = (*limits.trials + 1) / 2;
  return Budget(limits, stop);
}

ResultEntry entryOf(const ChosenRegion &decided) {
  ResultEntry entry;
  entry.name = decided.name;
  entry.kind = decided.region.name;
  entry.key = decided.region.key();
  entry.choice = decided.choice.region.text();
  entry.lookup = choiceSourceName(decided.choice.source);
  entry.outcome = decided.choice.isHit() ? "recorded" : "not tuned";
  return entry;
}

} // namespace

/// What the search leaves of a time limit for compiling and verifying the whole model.
static milliseconds searchTime(milliseconds total) {
  return total - std::clamp(total / 8, milliseconds(500), milliseconds(15'000));
}

BudgetLimits searchLimits(const BudgetConfig &config) {
  BudgetLimits limits;
  if (config.time > TimeLimit::zero())
    limits.time = searchTime(config.time);
  if (config.trials > 0)
    limits.trials = config.trials;
  return limits;
}

llvm::Expected<bool> ModelTuner::tuneRegion(ChosenRegion &decided, RegionTimer &timer, Budget &share) {
  SubgraphSearch search(
      [&](const Region &region, const RegionChoice &choice) {
        return timer.measure(decided.chain, region, choice);
      },
      {.alternatives = decided.alternatives, .seed = options.config.operators.seed});
  llvm::Expected<std::optional<SubgraphResult>> found = search.run(decided.region, decided.untuned, share);
  if (!found)
    return found.takeError();
  if (!*found)
    return false;
  const SubgraphResult &settled = **found;
  decided.choice.region = settled.choice;
  decided.choice.source = ChoiceSource::Exact;
  decided.choice.stale = false;
  if (settled.isMeasured())
    if (llvm::Error error = put(subgraphRecord(settled, options.device, provenance())))
      return error;
  ResultEntry entry = entryOf(decided);
  entry.lookup = "search";
  entry.outcome = outcomeName(settled.outcome);
  entry.beforeMs = settled.comparison.first.medianNs / 1e6;
  entry.afterMs = settled.comparison.second.medianNs / 1e6;
  result.subgraphs.push_back(std::move(entry));
  return true;
}

llvm::Expected<bool> ModelTuner::tuneRegions(const char *stage, std::vector<ChosenRegion *> regions,
                                             RegionTimer &timer, Budget &share) {
  // Where most is to be gained.
  llvm::stable_sort(regions,
                    [](const ChosenRegion *a, const ChosenRegion *b) { return a->weight > b->weight; });
  ProgressState state;
  state.stage = stage;
  state.tasks = int64_t(regions.size());
  bool changed = false;
  for (ChosenRegion *decided : regions) {
    display.update(state);
    ++state.tasksDone;
    if (decided->choice.isHit() && !options.config.repository.retune)
      continue;
    RegionChoice before = decided->choice.region;
    llvm::Expected<bool> settled = tuneRegion(*decided, timer, share);
    if (!settled)
      return settled.takeError();
    if (!*settled)
      break;
    changed |= decided->choice.region != before;
  }
  return changed;
}

llvm::Error ModelTuner::tuneSubgraphs(ChosenProfile &chosen, size_t index) {
  const ImportedProfile &profile = model.profiles[index];
  RegionTimer timer(profile, *untunedKnowledge, target, compiler, folder);
  Budget share = regionBudget(options.config.budget, options.stop);
  auto planAgain = [&]() -> llvm::Error {
    chosen.schedules.clear();
    if (llvm::Error error = replan(chosen, profile, *knowledge, target))
      return error;
    chooseSchedules(chosen, knowledge->resolver());
    return llvm::Error::success();
  };
  std::vector<ChosenRegion *> regions;
  for (ChosenRegion &layout : chosen.layouts)
    regions.push_back(&layout);
  llvm::Expected<bool> changed = tuneRegions("layouts", std::move(regions), timer, share);
  if (!changed)
    return changed.takeError();
  if (*changed) {
    chosen.algorithms.clear(); // they were for other layouts
    if (llvm::Error error = planAgain())
      return error;
  }
  regions.clear();
  for (auto &[key, algorithm] : chosen.algorithms)
    regions.push_back(&algorithm);
  changed = tuneRegions("algorithms", std::move(regions), timer, share);
  budget->addTrials(share.trials());
  if (!changed)
    return changed.takeError();
  return *changed ? planAgain() : llvm::Error::success();
}

void ModelTuner::addRegionEntries(const ChosenProfile &chosen) {
  auto add = [&](const ChosenRegion &decided) {
    std::string key = decided.region.key();
    if (llvm::none_of(result.subgraphs, [&](const ResultEntry &entry) { return entry.key == key; }))
      result.subgraphs.push_back(entryOf(decided));
  };
  for (const ChosenRegion &layout : chosen.layouts)
    add(layout);
  for (const auto &[key, algorithm] : chosen.algorithms)
    add(algorithm);
}

} // namespace autotune
