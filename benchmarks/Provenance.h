// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where figures come from.
#pragma once

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <string>

namespace autotune::benchmarks {

/// Date, processor, load, kernel and versions.
llvm::json::Object machineProvenance();

/// Errors name the file.
llvm::Error writeFile(const std::string &path, const std::string &text);

} // namespace autotune::benchmarks
