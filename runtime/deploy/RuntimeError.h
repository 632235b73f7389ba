// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one exception of the deployed runtime. The folder has no LLVM, so errors travel as exceptions inside
// and turn into status codes at the C border.
#pragma once

#include "runtime/deploy/autotune_runtime.h"

#include <stdexcept>
#include <string>

namespace autotune::deploy {

class RuntimeError : public std::runtime_error {
public:
  /// `message`: one line, what was found and what was expected.
  RuntimeError(autotune_status status, const std::string &message)
      : std::runtime_error(message), code(status) {}
  autotune_status status() const { return code; }

private:
  autotune_status code;
};

} // namespace autotune::deploy
