// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One case of the ONNX test data: a model and folders of inputs with the outputs they must give.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace autotune {

/// Names of inputs that had to become constants, because shapes depend on their values. Empty: none.
using FixedInputs = std::vector<std::string>;

/// Takes the case in `folder` (model.onnx, test_data_set_N/) the way of a user's model: import, compile with the
/// default partition and schedules, load, run, compare. Where the import needs values that the model takes as
/// inputs, they are fixed as `--input-value` does: first the integer inputs, then all but the first, then all.
/// Errors: what failed and why, of the last attempt.
llvm::Expected<FixedInputs> runConformanceCase(llvm::StringRef folder);

} // namespace autotune
