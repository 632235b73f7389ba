// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measures every alternative once and the best against the untuned one in turns.
#include "tuner/SubgraphSearch.h"

#include "tuner/Acceptance.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace autotune;

static double median(std::vector<double> values) {
  llvm::sort(values);
  size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

static Measurement summarize(const std::vector<double> &times, int64_t runs) {
  Measurement measurement = {median(times), 0, runs};
  std::vector<double> deviations;
  for (double time : times)
    deviations.push_back(std::abs(time - measurement.medianNs));
  measurement.spreadNs = median(std::move(deviations));
  return measurement;
}

llvm::Expected<ComparisonOutcome> SubgraphSearch::compare(const Region &region, const RegionChoice &first,
                                                          const RegionChoice &second, Budget &budget) {
  std::vector<double> times[2], ratios;
  int64_t runs[2] = {0, 0};
  for (int pair = 0; pair < options.pairs; ++pair) {
    double latest[2] = {0, 0};
    // The order swaps from pair to pair: whoever comes second meets warmer caches.
    for (int turn = 0; turn < 2; ++turn) {
      int side = (pair + turn) % 2;
      llvm::Expected<Outcome> outcome = measure(region, side == 0 ? first : second);
      if (!outcome)
        return outcome.takeError();
      if (const auto *failure = std::get_if<Failure>(&*outcome))
        return ComparisonOutcome(*failure);
      const Measurement &measurement = std::get<Measurement>(*outcome);
      latest[side] = measurement.medianNs;
      times[side].push_back(measurement.medianNs);
      runs[side] += measurement.runs;
    }
    ratios.push_back(latest[0] / latest[1]);
    if (budget.isStopped())
      break;
  }
  Comparison comparison;
  comparison.ratio = median(ratios);
  comparison.low = *std::min_element(ratios.begin(), ratios.end());
  comparison.high = *std::max_element(ratios.begin(), ratios.end());
  comparison.first = summarize(times[0], runs[0]);
  comparison.second = summarize(times[1], runs[1]);
  return ComparisonOutcome(comparison);
}

llvm::Expected<std::optional<SubgraphResult>>
SubgraphSearch::run(const Region &region, const RegionChoice &untuned, Budget &budget) {
  SubgraphResult result;
  result.region = region;
  result.choice = untuned;
  std::optional<std::pair<double, RegionChoice>> best;
  for (const RegionChoice &choice : options.alternatives) {
    if (budget.isUsedUp())
      return std::nullopt;
    llvm::Expected<Outcome> outcome = measure(region, choice);
    if (!outcome)
      return outcome.takeError();
    budget.addTrials(1);
    ++result.measurements;
    if (const auto *measurement = std::get_if<Measurement>(&*outcome)) {
      if (!best || measurement->medianNs < best->first)
        best = {measurement->medianNs, choice};
      if (choice == untuned)
        result.comparison.first = result.comparison.second = *measurement;
    }
    result.alternatives.emplace_back(choice, std::move(*outcome));
  }
  if (!best || best->second == untuned)
    return std::optional(std::move(result));
  llvm::Expected<ComparisonOutcome> outcome = compare(region, untuned, best->second, budget);
  if (!outcome)
    return outcome.takeError();
  if (budget.isStopped())
    return std::nullopt;
  const auto *comparison = std::get_if<Comparison>(&*outcome);
  if (comparison && isImprovement(*comparison)) {
    result.outcome = SearchOutcome::Improved;
    result.choice = best->second;
    result.comparison = *comparison;
  }
  return std::optional(std::move(result));
}
