// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A folder for compiled problems, gone at the end.
#pragma once

#include "schedule/Errors.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

#include <string>

namespace autotune::benchmarks {

class TemporaryFolder {
public:
  TemporaryFolder() = default;
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  ~TemporaryFolder() {
    if (!path.empty())
      llvm::sys::fs::remove_directories(path);
  }
  llvm::Error create(const std::string &prefix) {
    if (std::error_code error = llvm::sys::fs::createUniqueDirectory(prefix, path))
      return makeError("temporary folder: {0}", error.message());
    return llvm::Error::success();
  }
  std::string name() const { return path.str().str(); }

private:
  llvm::SmallString<128> path;
};

} // namespace autotune::benchmarks
