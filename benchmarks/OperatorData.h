// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers for an operator's operands: both sides of a comparison get the same.
#pragma once

#include "benchmarks/OperatorShape.h"

namespace autotune::benchmarks {

struct OperatorData {
  /// In the order of `inputShapes` and `constantShapes`.
  std::vector<std::vector<float>> inputs, constants;
};

/// Uniform around zero. Weights shrink with the length of the sums, so that layers can be chained. The same
/// for the same seed.
OperatorData makeData(const Operator &op, unsigned seed);

} // namespace autotune::benchmarks
