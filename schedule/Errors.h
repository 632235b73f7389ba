// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one way to make an llvm::Error outside IR code.
#pragma once

#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"

namespace autotune {

/// An error with a message in llvm::formatv syntax: `makeError("line {0}: found {1}, expected {2}", …)`.
/// Say where (file and line, node, key), what was found and what was expected.
template <typename... Args> llvm::Error makeError(const char *format, Args &&...args) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 llvm::formatv(format, std::forward<Args>(args)...).str());
}

} // namespace autotune
