// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Medians, and intervals of ratios.
#pragma once

#include <vector>

namespace autotune::benchmarks {

/// Of an even count the mean of the two in the middle. `values` is not empty.
double median(std::vector<double> values);

struct RatioInterval {
  double ratio = 0, low = 0, high = 0;
};

/// Ratio of the medians of `slow` and `fast`, where slow[i] and fast[i] were measured in the same round, with
/// a 95 % interval: percentiles over draws of whole rounds (bootstrap). The same on every call.
RatioInterval medianRatio(const std::vector<double> &slow, const std::vector<double> &fast);

/// `values` are positive and not empty.
double geometricMean(const std::vector<double> &values);

} // namespace autotune::benchmarks
