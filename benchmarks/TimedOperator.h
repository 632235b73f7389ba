// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is timed in turns with others.
#pragma once

#include <vector>

namespace autotune::benchmarks {

class TimedOperator {
public:
  virtual ~TimedOperator() = default;
  /// One run; nanoseconds of wall time of what counts in it.
  virtual double runNs() = 0;
  /// What the last run computed, in plain layout.
  virtual std::vector<float> output() const = 0;
};

} // namespace autotune::benchmarks
