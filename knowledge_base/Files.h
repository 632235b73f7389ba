// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files that survive crashes and concurrent writers.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>

namespace autotune {

/// The whole file; nullopt if there is none. Error: not a regular file, too large,
/// unreadable; the caller adds the path.
llvm::Expected<std::optional<std::string>> readFile(const std::string &path);

/// Replaces the file with `text` or leaves it as it was, whatever happens; on disk when it returns. The
/// caller holds the file's lock: two writers at once would share the temporary file.
llvm::Error writeFile(const std::string &path, llvm::StringRef text);

/// Makes the directory and its parents, each entry synced.
llvm::Error makeDirectory(const std::string &path);

/// An exclusive lock on a file that may not exist yet, held by one process and thread at a time. The lock
/// file
/// ".<name>.lock" lies beside it while the lock is held; one left by a killed process holds nobody up.
class FileLock {
public:
  /// Waits until the lock is free. The directory must exist.
  static llvm::Expected<FileLock> acquire(const std::string &path);
  FileLock(FileLock &&other) noexcept : lockPath(std::move(other.lockPath)), descriptor(other.descriptor) {
    other.descriptor = -1;
  }
  FileLock &operator=(FileLock &&) = delete;
  ~FileLock();

private:
  FileLock(std::string lockPath, int descriptor) : lockPath(std::move(lockPath)), descriptor(descriptor) {}

  std::string lockPath;
  int descriptor;
};

} // namespace autotune
