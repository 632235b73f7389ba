// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two programs of one model against each other: same results, and which is faster.
#pragma once

#include "runtime/deploy/Model.h"
#include "tuner/Measurer.h"

#include "llvm/ADT/StringMap.h"

#include <memory>

namespace autotune {

/// Runs both on the same random inputs, compares their outputs, then times them in turns. A failure has the
/// stage "check". `quanta`: of float outputs that stand for integers, by name.
llvm::Expected<ComparisonOutcome> compareModels(const std::shared_ptr<const deploy::Model> &first,
                                                const std::shared_ptr<const deploy::Model> &second,
                                                size_t profile, int threads,
                                                const llvm::StringMap<double> &quanta = {});

} // namespace autotune
