// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A region of a model as a program of its own: how a choice for it would be compiled, and what it would cost.
#pragma once

#include "runtime/build/ModelPlan.h"
#include "tools/ChooseModel.h"
#include "tuner/Algorithms.h"

namespace autotune {

class RegionPlanner {
public:
  /// `untuned` (whose cost model prices) and `profile` outlive the planner.
  RegionPlanner(const ImportedProfile &profile, const Knowledge &untuned, const ChoiceTarget &target)
      : profile(profile), device(untuned.device()), target(target),
        pricer(untuned.device(), untuned.costModel(), target.threads, target.numerics) {}

  /// `region`, a part of `chain`, by itself, with conversions from and to plain layout at its borders.
  llvm::Expected<ModelPlan> plan(const LayoutChain &chain, const Region &region, const RegionChoice &choice);

  /// The alternative of `layout` that is predicted to be cheapest, conversions included: another than
  /// `layout.untuned` only if it is clearly cheaper.
  RegionChoice cheapest(const ChosenRegion &layout);

private:
  struct Price {
    double predictedNs = 0; // of all kernels that have schedules, with the best one for each
    int64_t unpriced = 0;   // the others: stores of borders, and loops that no schedule is for
  };
  /// Nothing where the choice cannot be compiled.
  std::optional<Price> price(const ChosenRegion &layout, const RegionChoice &choice);
  Partition partition(const LayoutChain &chain, const Region &region, const RegionChoice &choice);

  const ImportedProfile &profile;
  Device device;
  ChoiceTarget target;
  AlgorithmPricer pricer;
};

} // namespace autotune
