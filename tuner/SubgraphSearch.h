// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decides by measuring how each region is cut; so far: which layout its chain of convolutions has.
#pragma once

#include "knowledge_base/Record.h"
#include "tuner/Budget.h"
#include "tuner/Measurer.h"
#include "tuner/Region.h"

#include "llvm/Support/Error.h"

#include <functional>
#include <vector>

namespace autotune {

/// Compiles the operators of a region in one layout with untuned schedules and times one run of all its
/// kernels, conversions at the borders included. Error: nothing can be measured at all.
using MeasureRegion = std::function<llvm::Expected<Outcome>(const Region &region, int channelBlock)>;

struct SubgraphOptions {
  std::vector<int> channelBlocks = {0, 8, 16};
  /// Measurements in turns that the final comparison takes. The interval of the median of six pairs, from the
  /// smallest to the largest ratio, has a confidence of 97 % (sign test).
  int pairs = 6;
  int64_t seed = 1;
};

/// How the search of a region ended.
struct SubgraphResult {
  Region region;
  SearchOutcome outcome = SearchOutcome::DefaultBest;
  int channelBlock = 0;  // the winner
  Comparison comparison; // untuned against winner
  std::vector<std::pair<int, Outcome>>
      alternatives; // every block and what became of it, in the order of the options
  int64_t measurements = 0;

  /// False if the untuned layout itself failed.
  bool isMeasured() const { return comparison.first.runs > 0; }
};

class SubgraphSearch {
public:
  SubgraphSearch(MeasureRegion measure, SubgraphOptions options = {})
      : measure(std::move(measure)), options(std::move(options)) {}

  /// Settles one region, in which `untunedBlock` is what it gets without measuring. nullopt: the budget ended
  /// first.
  llvm::Expected<std::optional<SubgraphResult>> run(const Region &region, int untunedBlock, Budget &budget);

private:
  llvm::Expected<ComparisonOutcome> compare(const Region &region, int first, int second, Budget &budget);

  MeasureRegion measure;
  SubgraphOptions options;
};

} // namespace autotune
