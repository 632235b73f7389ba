// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scatters whose positions are known at import: what exporters write for an assignment to a slice.
#pragma once

#include "frontend/Emit.h"

namespace autotune {

/// For each position of the `leading` dimensions the update that is stored there last; -1 where there is none.
using UpdateAt = std::vector<int64_t>;

/// `data` with `updates` stored at known positions. `updates` is [count, trailing dimensions of data…]. Updates that
/// fill a box in order are joined with what surrounds it; others are read through a table.
mlir::Value scatterKnown(Builder &b, mlir::Value data, mlir::Value updates, llvm::ArrayRef<int64_t> leading,
                         const UpdateAt &updateAt);

} // namespace autotune
