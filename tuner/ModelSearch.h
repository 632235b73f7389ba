// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The schedules that a cost model likes best: the untuned choice, and the seeds of a search.
#pragma once

#include "cost_model/CostModel.h"
#include "schedule/Space.h"

#include <vector>

namespace autotune {

struct PredictedSchedule {
  Schedule schedule;
  double predictedNs = 0;
};

/// Up to `count` members of the space, cheapest first, no two with the same loop nest. Small spaces are
/// priced whole, large ones by descents from several members. Never empty; the same on every run.
std::vector<PredictedSchedule> topSchedules(const Workload &workload, const Space &space,
                                            const CostModel &model, size_t count);

} // namespace autotune
