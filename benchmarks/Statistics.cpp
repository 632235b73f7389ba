// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "benchmarks/Statistics.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace autotune::benchmarks {

static constexpr size_t kResamples = 2000;

double median(std::vector<double> values) {
  size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + long(middle), values.end());
  if (values.size() % 2)
    return values[middle];
  return (values[middle] + *std::max_element(values.begin(), values.begin() + long(middle))) / 2;
}

RatioInterval medianRatio(const std::vector<double> &slow, const std::vector<double> &fast) {
  std::minstd_rand random(1);
  std::uniform_int_distribution<size_t> round(0, slow.size() - 1);
  std::vector<double> ratios, someSlow(slow.size()), someFast(slow.size());
  for (size_t resample = 0; resample < kResamples; ++resample) {
    for (size_t i = 0; i < slow.size(); ++i) {
      size_t drawn = round(random);
      someSlow[i] = slow[drawn];
      someFast[i] = fast[drawn];
    }
    ratios.push_back(median(someSlow) / median(someFast));
  }
  std::sort(ratios.begin(), ratios.end());
  return {median(slow) / median(fast), ratios[kResamples / 40], ratios[kResamples - kResamples / 40 - 1]};
}

double geometricMean(const std::vector<double> &values) {
  double sum = 0;
  for (double value : values)
    sum += std::log(value);
  return std::exp(sum / double(values.size()));
}

} // namespace autotune::benchmarks
