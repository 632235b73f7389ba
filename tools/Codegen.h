// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The version of the code generator that this program has: records of another are stale.
#pragma once

#include "knowledge_base/Record.h"

namespace autotune {

/// For a workload kind, region class or model name.
CodegenVersion currentCodegen(llvm::StringRef kind);

} // namespace autotune
