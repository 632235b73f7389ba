// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "benchmarks/OperatorData.h"

#include <cmath>
#include <random>

namespace autotune::benchmarks {
namespace {

std::vector<float> uniform(const Sizes &shape, float limit, std::minstd_rand &random) {
  size_t count = 1;
  for (int64_t size : shape)
    count *= size_t(size);
  std::uniform_real_distribution<float> distribution(-limit, limit);
  std::vector<float> values(count);
  for (float &value : values)
    value = distribution(random);
  return values;
}

} // namespace

OperatorData makeData(const Operator &op, unsigned seed) {
  std::minstd_rand random(seed + 1);
  OperatorData data;
  for (const Sizes &shape : inputShapes(op))
    data.inputs.push_back(uniform(shape, 1, random));
  // Sums of n products with weights of variance 1/n have the variance of the inputs.
  float weight = std::sqrt(3.0f / float(sumLength(op)));
  for (const Sizes &shape : constantShapes(op))
    data.constants.push_back(uniform(shape, data.constants.empty() ? weight : 1, random));
  return data;
}

} // namespace autotune::benchmarks
