// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/InputValue.h"

namespace autotune {

llvm::Expected<InputValue> InputValue::parse(llvm::StringRef text) {
  auto [name, value] = text.rsplit('=');
  if (name.trim().empty() || value.trim().empty())
    return llvm::createStringError("input value `" + text +
                                   "`: expected NAME=NUMBERS (with commas between them) or NAME=FILE (.npy or .pb)");
  return InputValue{name.trim().str(), value.trim().str()};
}

} // namespace autotune
