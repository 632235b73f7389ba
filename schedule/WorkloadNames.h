// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Spellings of a workload's enumerations, in the order of their values.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace autotune {

inline constexpr llvm::StringLiteral kOpClassNames[] = {
    "contraction", "depthwise",     "reduction", "elementwise",
    "movement",    "normalization", "attention", "recurrence"};
inline constexpr llvm::StringLiteral kNumericsNames[] = {"default", "strict"};

} // namespace autotune
