// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the searches need of the device: times of candidates, or why there is none.
#pragma once

#include "schedule/Schedule.h"
#include "schedule/Workload.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace autotune {

/// Repeated timings of one kernel whose output was right.
struct Measurement {
  double medianNs = 0;
  double spreadNs = 0; // median absolute deviation
  int64_t runs = 0;
  bool operator==(const Measurement &) const = default;
};

/// Why a candidate has no time.
struct Failure {
  std::string stage; // "apply", "compile", "crash", "timeout", "check", …
  std::string reason;
  bool operator==(const Failure &) const = default;
};

using Outcome = std::variant<Measurement, Failure>;

/// Two kernels timed in turns. Ratios are first / second: above 1, the second is faster.
struct Comparison {
  double ratio = 1;         // median of the pairs
  double low = 1, high = 1; // 95 % confidence interval of it
  Measurement first, second;
  std::string standard;                  // of the check that the second passed
  std::map<std::string, double> metrics; // what the check measured
};

using ComparisonOutcome = std::variant<Comparison, Failure>;

class Measurer {
public:
  virtual ~Measurer() = default;

  /// One outcome for each schedule, in order. Error: nothing can be measured at all (no worker starts).
  virtual llvm::Expected<std::vector<Outcome>> measure(const Workload &workload,
                                                       llvm::ArrayRef<Schedule> schedules) = 0;
  /// Times both in turns, so that the machine's moods hit both alike.
  virtual llvm::Expected<ComparisonOutcome> confirm(const Workload &workload, const Schedule &first,
                                                    const Schedule &second) = 0;
};

} // namespace autotune
