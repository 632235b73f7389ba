// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Refuses to run what cannot fit, before anything is compiled or allocated.
#pragma once

#include "runtime/build/ModelPlan.h"
#include "tools/ImportedModel.h"

namespace autotune {

/// Error: this process cannot have the memory that an inference takes; says how much that is and how much
/// there is.
llvm::Error checkMemory(const ImportedModel &model, const ModelPlan &plan);

} // namespace autotune
