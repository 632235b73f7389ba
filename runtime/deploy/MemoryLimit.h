// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How much memory this process may have, so that a model that is too large is refused before it takes any.
#pragma once

#include <cstdint>
#include <string>

namespace autotune::deploy {

struct MemoryLimit {
  uint64_t bytes = 0;
  std::string owner; // who sets it, as a clause: "this machine has"
};

/// The least of physical memory, the limits of the process's control groups (both versions) and what is left
/// of the limit on address space. `root` is where /proc and /sys are looked for. Limits that cannot be read
/// count as absent.
MemoryLimit memoryLimit(const std::string &root = "");

/// What an inference needs beside the constants, which are mapped from a file and can be read again.
struct MemoryNeed {
  uint64_t intermediate = 0; // arena of intermediate tensors, and what kernels take while they run
  uint64_t inputsAndOutputs = 0;
};

/// "" if there is room; else what is needed and what there is.
std::string explainMemoryShortage(const MemoryNeed &need, const MemoryLimit &limit);

} // namespace autotune::deploy
