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

/// Largest chain first: where most is to be gained.
std::vector<ChosenLayout *> largestFirst(std::vector<ChosenLayout> &layouts) {
  std::vector<ChosenLayout *> order;
  for (ChosenLayout &layout : layouts)
    order.push_back(&layout);
  llvm::stable_sort(order, [](const ChosenLayout *a, const ChosenLayout *b) {
    return a->chain.operators.size() > b->chain.operators.size();
  });
  return order;
}

std::vector<ChosenAlgorithm *> largestFirst(AlgorithmTable &algorithms) {
  std::vector<ChosenAlgorithm *> order;
  for (auto &[key, algorithm] : algorithms)
    order.push_back(&algorithm);
  llvm::stable_sort(order,
                    [](const ChosenAlgorithm *a, const ChosenAlgorithm *b) { return a->flops > b->flops; });
  return order;
}

std::vector<RegionChoice> layoutAlternatives() { return {{0, ""}, {8, ""}, {16, ""}}; }

std::vector<RegionChoice> algorithmAlternatives(const ChosenAlgorithm &decided) {
  std::vector<RegionChoice> alternatives;
  for (const std::string &algorithm : decided.algorithms)
    alternatives.push_back({decided.choice.region.channelBlock, algorithm});
  return alternatives;
}

ResultEntry entryOf(std::string name, const Region &region, const ResolvedRegion &choice) {
  ResultEntry entry;
  entry.name = std::move(name);
  entry.kind = region.name;
  entry.key = region.key();
  entry.choice = choice.region.text();
  entry.lookup = choiceSourceName(choice.source);
  entry.outcome = choice.isHit() ? "recorded" : "not tuned";
  return entry;
}

std::string nameOf(const ChosenLayout &layout) {
  return layout.region.name + " of " + std::to_string(layout.chain.operators.size()) + " operators";
}
std::string nameOf(const ChosenAlgorithm &algorithm) { return algorithm.label; }

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

/// `decided` is a ChosenLayout or a ChosenAlgorithm. False: the budget ended first.
template <typename Decided>
llvm::Expected<bool> ModelTuner::tuneRegion(Decided &decided, const RegionChoice &untunedChoice,
                                            std::vector<RegionChoice> alternatives, RegionTimer &timer,
                                            Budget &share) {
  SubgraphSearch search(
      [&](const Region &region, const RegionChoice &choice) {
        return timer.measure(decided.chain, region, choice);
      },
      {.alternatives = std::move(alternatives), .seed = options.config.operators.seed});
  llvm::Expected<std::optional<SubgraphResult>> found = search.run(decided.region, untunedChoice, share);
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
  ResultEntry entry = entryOf(nameOf(decided), decided.region, decided.choice);
  entry.lookup = "search";
  entry.outcome = outcomeName(settled.outcome);
  entry.beforeMs = settled.comparison.first.medianNs / 1e6;
  entry.afterMs = settled.comparison.second.medianNs / 1e6;
  result.subgraphs.push_back(std::move(entry));
  return true;
}

/// Settles what has no record yet, as long as the budget lasts. True if a choice changed.
template <typename Decided>
llvm::Expected<bool>
ModelTuner::tuneRegions(const char *stage, llvm::ArrayRef<Decided *> regions,
                        llvm::function_ref<RegionChoice(const Decided &)> untunedChoice,
                        llvm::function_ref<std::vector<RegionChoice>(const Decided &)> alternatives,
                        RegionTimer &timer, Budget &share) {
  ProgressState state;
  state.stage = stage;
  state.tasks = int64_t(regions.size());
  bool changed = false;
  for (Decided *decided : regions) {
    display.update(state);
    ++state.tasksDone;
    if (decided->choice.isHit() && !options.config.repository.retune)
      continue;
    RegionChoice before = decided->choice.region;
    llvm::Expected<bool> settled =
        tuneRegion(*decided, untunedChoice(*decided), alternatives(*decided), timer, share);
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
  auto planAgain = [&](const llvm::Expected<bool> &changed) -> llvm::Error {
    if (!*changed)
      return llvm::Error::success();
    chosen.schedules.clear();
    if (llvm::Error error = replan(chosen, profile, *knowledge, target))
      return error;
    chooseSchedules(chosen, knowledge->resolver());
    return llvm::Error::success();
  };
  llvm::Expected<bool> changed = tuneRegions<ChosenLayout>(
      "layouts", largestFirst(chosen.layouts),
      [&](const ChosenLayout &) { return RegionChoice{untunedBlock(options.device), ""}; },
      [](const ChosenLayout &) { return layoutAlternatives(); }, timer, share);
  if (!changed)
    return changed.takeError();
  if (*changed)
    chosen.algorithms.clear(); // they were for other layouts
  if (llvm::Error error = planAgain(changed))
    return error;
  changed = tuneRegions<ChosenAlgorithm>(
      "algorithms", largestFirst(chosen.algorithms),
      [](const ChosenAlgorithm &algorithm) { return algorithm.untuned; }, algorithmAlternatives, timer,
      share);
  budget->addTrials(share.trials());
  if (!changed)
    return changed.takeError();
  return planAgain(changed);
}

void ModelTuner::addRegionEntries(const ChosenProfile &chosen) {
  auto add = [&](const auto &decided) {
    std::string key = decided.region.key();
    if (llvm::none_of(result.subgraphs, [&](const ResultEntry &entry) { return entry.key == key; }))
      result.subgraphs.push_back(entryOf(nameOf(decided), decided.region, decided.choice));
  };
  for (const ChosenLayout &layout : chosen.layouts)
    add(layout);
  for (const auto &[key, algorithm] : chosen.algorithms)
    add(algorithm);
}

} // namespace autotune
