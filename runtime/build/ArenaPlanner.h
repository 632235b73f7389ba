// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Static placement of intermediate buffers in one arena, by liveness.
#pragma once

#include <cstdint>
#include <vector>

namespace autotune {

/// A buffer that lives from the step that first writes it to the step that last reads it, both included.
struct BufferLifetime {
  int64_t bytes = 0;
  int firstStep = 0;
  int lastStep = 0;
};

struct ArenaPlan {
  std::vector<int64_t> offsets;  // of each buffer, multiples of the alignment
  int64_t arenaBytes = 0;
};

/// Largest buffer first, each at the lowest offset where it meets no buffer that lives at the same time.
ArenaPlan planArena(const std::vector<BufferLifetime> &buffers, int64_t alignment);

} // namespace autotune
