// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Predicts the time of a kernel from its workload and schedule, without compiling it.
#pragma once

#include "schedule/Schedule.h"
#include "schedule/Workload.h"

#include <span>
#include <vector>

namespace autotune {

/// One kernel to price. Both outlive the call.
struct CostQuery {
  const Workload *workload = nullptr;
  const Schedule *schedule = nullptr; // `buildLoopNest` accepts it
};

class CostModel {
public:
  virtual ~CostModel() = default;
  /// Nanoseconds of one run of each kernel, in the order asked; always positive. Pure: the same query gives
  /// the same answer, and calls from several threads are safe.
  virtual std::vector<double> predict(std::span<const CostQuery> queries) const = 0;
};

} // namespace autotune
