// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Maxima over windows together with where they were found.
#pragma once

#include "frontend/Emit.h"
#include "frontend/Window.h"

namespace autotune {

/// The maxima of input 0, and their positions in the whole tensor as i64. `columnMajor`: positions count the
/// spatial dimensions from the first one on.
std::pair<mlir::Value, mlir::Value> maximaWithIndices(NodeContext &node, const Window &window,
                                                      bool columnMajor);

} // namespace autotune
