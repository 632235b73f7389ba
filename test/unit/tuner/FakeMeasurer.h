// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A device whose times are known: the cost model's, bent so that the model is wrong about the best.
#pragma once

#include "cost_model/AnalyticalModel.h"
#include "schedule/Space.h"
#include "test/unit/schedule/TestWorkloads.h"
#include "tuner/Measurer.h"

#include <cmath>
#include <functional>
#include <set>

namespace autotune {

/// Time of a schedule on the fake device. Smaller unrolling and fewer rows than the model likes are best, and
/// every nest has a ripple of its own.
inline double fakeNs(const Workload &workload, const Schedule &schedule) {
  LoopNest nest = llvm::cantFail(buildLoopNest(workload, schedule));
  double time = nestCost(workload, nest, testDevice()).totalNs;
  auto knob = [&](const char *name, int64_t absent) {
    auto found = schedule.knobs.find(name);
    return double(found == schedule.knobs.end() ? absent : found->second);
  };
  time *= 1 + 0.06 * std::abs(std::log2(knob("unroll", 2) / 2));
  time *= 1 + 0.03 * std::abs(knob("rows", 4) - 4);
  time *= 1 + 0.04 * std::abs(std::log2(knob("cache_rows", 4) / 4));
  std::string text;
  for (const TileLoop &loop : nest.tiles)
    text += std::to_string(loop.dim) + ":" + std::to_string(loop.step) + " ";
  return time * (1 + 0.02 * double(hashText(text)[0] % 8) / 8);
}

class FakeMeasurer : public Measurer {
public:
  llvm::Expected<std::vector<Outcome>> measure(const Workload &workload,
                                               llvm::ArrayRef<Schedule> schedules) override {
    std::vector<Outcome> outcomes;
    for (const Schedule &schedule : schedules) {
      trace.push_back(schedule);
      if (fails && fails(schedule))
        outcomes.push_back(Failure{"compile", "cannot\nsecond line"});
      else
        outcomes.push_back(Measurement{fakeNs(workload, schedule), 1, 20});
    }
    if (afterBatch)
      afterBatch();
    return outcomes;
  }

  llvm::Expected<ComparisonOutcome> confirm(const Workload &workload, const Schedule &first,
                                            const Schedule &second) override {
    ++confirmations;
    Comparison comparison;
    comparison.first = {fakeNs(workload, first), 1, 20};
    comparison.second = {fakeNs(workload, second), 1, 20};
    comparison.ratio = comparison.first.medianNs / comparison.second.medianNs;
    comparison.low = comparison.ratio * (1 - noise);
    comparison.high = comparison.ratio * (1 + noise);
    comparison.standard = "contraction";
    return ComparisonOutcome(comparison);
  }

  std::function<bool(const Schedule &)> fails;
  std::function<void()> afterBatch;
  double noise = 0.001;
  int confirmations = 0;
  std::vector<Schedule> trace;
};

} // namespace autotune
