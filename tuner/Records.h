// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Results of searches as records of the knowledge base.
#pragma once

#include "tuner/OperatorTuner.h"
#include "tuner/SubgraphSearch.h"

namespace autotune {

/// `provenance` comes with all but the number of trials. Precondition: `result.isMeasured()`.
OperatorRecord operatorRecord(const TaskResult &result, const Device &device, Provenance provenance);
SubgraphRecord subgraphRecord(const SubgraphResult &result, const Device &device, Provenance provenance);

} // namespace autotune
