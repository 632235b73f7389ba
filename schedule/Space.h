// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The space: the knobs of a workload on a device, each with its legal values.
#pragma once

#include "schedule/Device.h"
#include "schedule/Schedule.h"
#include "schedule/Workload.h"

#include <cstdint>
#include <string>
#include <vector>

namespace autotune {

struct Knob {
  std::string name;
  std::vector<int64_t> values;  // ascending, never empty
};

struct Space {
  std::vector<Knob> knobs;  // sorted by name

  /// Number of combinations (saturates at 2^62).
  int64_t size() const;
  /// True if the schedule has exactly these knobs with legal values and its loop nest is valid for `workload`.
  bool contains(const Workload &workload, const Schedule &schedule) const;
};

/// About eight knobs for contraction-like workloads, two to four for the rest. Never empty: the first value of each
/// knob together is always a valid schedule.
Space buildSpace(const Workload &workload, const Device &device);

} // namespace autotune
