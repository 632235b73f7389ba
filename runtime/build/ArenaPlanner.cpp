// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Greedy by size; for chains of convolutions it reaches the lower bound, the largest sum of buffers alive at once.

#include "runtime/build/ArenaPlanner.h"

#include <algorithm>
#include <numeric>

namespace autotune {

ArenaPlan planArena(const std::vector<BufferLifetime> &buffers, int64_t alignment) {
  ArenaPlan plan;
  plan.offsets.assign(buffers.size(), 0);
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return buffers[a].bytes > buffers[b].bytes; });
  auto rounded = [&](int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; };
  std::vector<size_t> placed; // ascending by offset
  for (size_t buffer : order) {
    const BufferLifetime &life = buffers[buffer];
    int64_t offset = 0;
    for (size_t other : placed) {
      bool together = buffers[other].firstStep <= life.lastStep && life.firstStep <= buffers[other].lastStep;
      if (!together)
        continue;
      if (offset + rounded(life.bytes) <= plan.offsets[other])
        break;
      offset = std::max(offset, plan.offsets[other] + rounded(buffers[other].bytes));
    }
    plan.offsets[buffer] = offset;
    plan.arenaBytes = std::max(plan.arenaBytes, offset + rounded(life.bytes));
    placed.insert(std::upper_bound(placed.begin(), placed.end(), buffer,
                                   [&](size_t a, size_t b) { return plan.offsets[a] < plan.offsets[b]; }),
                  buffer);
  }
  return plan;
}

} // namespace autotune
