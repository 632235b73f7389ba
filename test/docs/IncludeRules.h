// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which folder may include what: the borders of docs/architecture.md as data.
#pragma once

#include <string>
#include <vector>

namespace autotune {

/// What one folder may include besides itself, the standard library and libraries that no rule names.
struct IncludeRule {
  std::string folder;               // "runtime/deploy"
  std::vector<std::string> allowed; // folders or files of ours, and guarded libraries: "llvm/", "mlir/", …
};

/// One rule per folder with C++ sources that has borders.
const std::vector<IncludeRule> &includeRules();

/// One line for each #include in `text` that `file` (a path from the repository root) may not have.
std::vector<std::string> forbiddenIncludes(const std::string &file, const std::string &text);

} // namespace autotune
