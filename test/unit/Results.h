// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Takes llvm::Error and llvm::Expected apart in tests (Debian ships LLVM without its testing library).
#pragma once

#include "llvm/Support/Error.h"

#include "gtest/gtest.h"

#include <string>

namespace autotune {

/// The error's text; empty on success.
inline std::string messageOf(llvm::Error error) { return llvm::toString(std::move(error)); }

template <typename T> std::string messageOf(llvm::Expected<T> result) {
  return result ? std::string() : llvm::toString(result.takeError());
}

/// The value; on an error the test fails with its text and a default value is returned.
template <typename T> T valueOf(llvm::Expected<T> result) {
  if (result)
    return std::move(*result);
  ADD_FAILURE() << llvm::toString(result.takeError());
  return T();
}

} // namespace autotune
