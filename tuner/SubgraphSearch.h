// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decides by measuring how each region is computed: the layout of a chain of convolutions, the algorithm of
// one.
#pragma once

#include "knowledge_base/Record.h"
#include "tuner/Budget.h"
#include "tuner/Measurer.h"
#include "tuner/Region.h"
#include "tuner/RegionChoice.h"

#include "llvm/Support/Error.h"

#include <functional>
#include <vector>

namespace autotune {

/// Compiles the operators of a region as chosen with untuned schedules and times one run of all its
/// kernels, conversions at the borders included. Error: nothing can be measured at all.
using MeasureRegion =
    std::function<llvm::Expected<Outcome>(const Region &region, const RegionChoice &choice)>;

struct SubgraphOptions {
  std::vector<RegionChoice> alternatives;
  /// Measurements in turns that the final comparison takes. The interval of the median of six pairs, from the
  /// smallest to the largest ratio, has a confidence of 97 % (sign test).
  int pairs = 6;
  int64_t seed = 1;
};

/// How the search of a region ended.
struct SubgraphResult {
  Region region;
  SearchOutcome outcome = SearchOutcome::DefaultBest;
  RegionChoice choice;   // the winner
  Comparison comparison; // untuned against winner
  /// Every choice and what became of it, in the order of the options.
  std::vector<std::pair<RegionChoice, Outcome>> alternatives;
  int64_t measurements = 0;

  /// False if the untuned choice itself failed.
  bool isMeasured() const { return comparison.first.runs > 0; }
};

class SubgraphSearch {
public:
  SubgraphSearch(MeasureRegion measure, SubgraphOptions options)
      : measure(std::move(measure)), options(std::move(options)) {}

  /// Settles one region, in which `untuned` is what it gets without measuring. nullopt: the budget ended
  /// first.
  llvm::Expected<std::optional<SubgraphResult>> run(const Region &region, const RegionChoice &untuned,
                                                    Budget &budget);

private:
  llvm::Expected<ComparisonOutcome> compare(const Region &region, const RegionChoice &first,
                                            const RegionChoice &second, Budget &budget);

  MeasureRegion measure;
  SubgraphOptions options;
};

} // namespace autotune
