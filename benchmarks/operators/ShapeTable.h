// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads the table of operators that are compared.
#pragma once

#include "benchmarks/OperatorShape.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace autotune::benchmarks {

/// The operators of a YAML text in the format of `shapes.yaml`, in its order.
/// Errors: unknown sections, keys and tails, missing or wrong sizes, a name that is given twice; with the
/// line.
llvm::Expected<std::vector<OperatorShape>> parseShapes(llvm::StringRef text);
/// The same of a file; errors begin with its name.
llvm::Expected<std::vector<OperatorShape>> readShapes(const std::string &file);

} // namespace autotune::benchmarks
