// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators by their definitions, in double precision.
#pragma once

#include "benchmarks/OperatorData.h"

namespace autotune::test {

/// The result in plain layout.
std::vector<double> referenceResult(const benchmarks::Operator &op, const benchmarks::OperatorData &data);

} // namespace autotune::test
