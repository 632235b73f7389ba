// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A value that the user fixes a model input to: the text of --input-value.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace autotune {

/// The input becomes a constant of the compiled model, so that shapes and branches may depend on it.
struct InputValue {
  std::string name;
  std::string value; // numbers between commas, or a .npy or .pb file

  std::string text() const { return name + "=" + value; }
  /// Errors say what was found and expected.
  static llvm::Expected<InputValue> parse(llvm::StringRef text);
  bool operator==(const InputValue &) const = default;
};

} // namespace autotune
