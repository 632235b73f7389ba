// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The activation functions that RNN, GRU and LSTM name.
#pragma once

#include "dialect/RecurrentUnit.h"
#include "frontend/NodeContext.h"

#include <vector>

namespace autotune {

/// As many activations for each direction as there are defaults, from the attributes or the defaults.
mlir::FailureOr<std::vector<RecurrentActivation>> readActivations(NodeContext &node, int64_t directions,
                                                                  llvm::ArrayRef<llvm::StringRef> defaults);

} // namespace autotune
