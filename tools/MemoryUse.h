// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The memory that a compiled model takes, beside its inputs and outputs.
#pragma once

#include "llvm/Support/JSON.h"

#include <cstdint>
#include <string>

namespace autotune {

struct MemoryUse {
  int64_t arenaBytes = 0;     // of a session: all intermediate tensors, where they can share memory
  int64_t tensorBytes = 0;    // of the same tensors, each for itself
  int64_t constantsBytes = 0; // shared by all sessions

  /// Another profile: a session has one arena that is large enough for each, the file has the constants of
  /// all.
  void add(int64_t arena, int64_t tensors, int64_t constants);

  /// "arena 6.9 MiB for 21.3 MiB of intermediate tensors, constants 45.1 MiB"
  std::string text() const;
  llvm::json::Object json() const;
};

} // namespace autotune
