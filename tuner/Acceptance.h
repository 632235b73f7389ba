// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When a candidate counts as better than the untuned choice.
#pragma once

#include "tuner/Measurer.h"

namespace autotune {

/// Smaller gains are not worth another schedule.
inline constexpr double kLeastGain = 0.01;

/// True if the second is faster outside the noise (the interval excludes 1) and by at least `kLeastGain`.
inline bool isImprovement(const Comparison &comparison) {
  return comparison.low > 1 && comparison.ratio >= 1 + kLeastGain;
}

} // namespace autotune
