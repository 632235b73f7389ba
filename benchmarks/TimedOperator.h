// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is timed in turns with others.
#pragma once

#include <vector>

namespace autotune::benchmarks {

/// Wall times of the parts of one run, in nanoseconds.
struct RunTimes {
  double counted = 0; // what is to be measured
  double others = 0;  // conversions at its ends
};

class TimedOperator {
public:
  virtual ~TimedOperator() = default;
  virtual RunTimes run() = 0;
  /// What the last run computed, in plain layout.
  virtual std::vector<float> output() const = 0;
};

} // namespace autotune::benchmarks
