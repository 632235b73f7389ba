// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vectors of bool in memory: one byte an element, as scalars and tensor files have it.
#pragma once

#include "mlir/Pass/Pass.h"

#include <memory>

namespace autotune {

/// LLVM packs the lanes of a `vector<n x i1>` into bits when it loads or stores one. This pass makes each such access
/// of the LLVM dialect an access to bytes of 0 and 1, so that it agrees with scalar accesses to the same buffer.
/// Preconditions: constant lane counts; masked accesses are rewritten, gathers and scatters of bools are an error.
std::unique_ptr<mlir::Pass> createBytePerBoolPass();

} // namespace autotune
