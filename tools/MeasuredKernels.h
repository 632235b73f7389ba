// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels of a planned model as measuring workers need them.
#pragma once

#include "runtime/build/ModelPlan.h"
#include "runtime/worker/WorkerMeasurer.h"

#include <map>
#include <string>

namespace autotune {

/// What measuring needs of every kernel that has a choice, by workload key. Weights are streamed as the whole
/// model streams them: between two runs of a kernel all other constants pass through the caches.
llvm::Expected<std::map<std::string, MeasuredKernel>> measuredKernels(const ModelPlan &plan);

} // namespace autotune
