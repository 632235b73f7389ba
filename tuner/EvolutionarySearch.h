// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ask/tell evolutionary search over one space, led by a cost model that the measurements correct.
#pragma once

#include "cost_model/CostModel.h"
#include "schedule/Space.h"
#include "tuner/Measurer.h"
#include "tuner/SpaceWalk.h"

#include "llvm/ADT/StringSet.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace autotune {

struct EvolutionOptions {
  uint64_t seed = 1;
  double randomShare = 0.1; // of a batch that is drawn blindly, against a model that is wrong
  size_t predicted = 256;   // schedules that the model likes best: what the first batches are taken from
  size_t parents = 6;       // best measured schedules that have children
  size_t children = 96;     // per batch; the best of them are proposed
  double crossShare = 0.3;  // children of two parents
};

/// Runs and times nothing itself. Same seed and same answers: same trace.
class EvolutionarySearch {
public:
  /// `seeds` are proposed first (schedules from records, and the untuned choice); those outside the space are
  /// dropped. All references outlive the search.
  EvolutionarySearch(const Workload &workload, const Space &space, const CostModel &model,
                     const EvolutionOptions &options, llvm::ArrayRef<Schedule> seeds = {});

  /// Up to `count` schedules, no two with the same loop nest, none that was proposed or observed before.
  /// Empty: the space is exhausted, as far as the search can see.
  std::vector<Schedule> propose(size_t count);
  /// What became of schedules, whether proposed here or measured in an earlier run.
  void observe(const Schedule &schedule, const Outcome &outcome);

  struct Best {
    Schedule schedule;
    Measurement measurement;
  };
  const std::optional<Best> &best() const { return fastest; }

private:
  struct Measured {
    Schedule schedule;
    double medianNs, predictedNs;
  };

  bool take(const Schedule &schedule);
  void takeFrom(std::vector<Schedule> &queue, size_t count, std::vector<Schedule> &batch);
  void takeRandom(size_t count, std::vector<Schedule> &batch);
  void takeRanked(size_t count, std::vector<Schedule> &batch);
  std::vector<Schedule> breed();

  const Workload &workload;
  const CostModel &model;
  EvolutionOptions options;
  SpaceWalk walk;
  Random random;
  std::vector<Schedule> seeds, predicted; // not proposed yet, best last
  llvm::StringSet<> known;                // loop nests proposed or observed
  std::vector<Measured> measured;         // fastest first
  std::optional<Best> fastest;
};

} // namespace autotune
