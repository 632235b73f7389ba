// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads the steps of a nest: those before the loop over points are blocks, those inside of it register tiles.
#include "schedule/WinogradNest.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace autotune;

std::optional<WinogradBlocking> autotune::winogradBlocking(const LoopNest &nest, int64_t tiles,
                                                           int64_t outBlocks) {
  WinogradBlocking blocking;
  blocking.tiles = tiles;
  int64_t left[] = {0, tiles, outBlocks};
  bool inPoint = false;
  for (auto [position, loop] : llvm::enumerate(nest.tiles)) {
    if (loop.dim < kPointLoop || loop.dim > kOutBlockLoop || loop.step < 1)
      return std::nullopt;
    if (position == 0 && nest.parallel) {
      blocking.chunkLoop = WinogradLoop(loop.dim);
      blocking.chunk = loop.step;
    }
    inPoint |= loop.dim == kPointLoop;
    left[loop.dim] = std::min(left[loop.dim], loop.step);
    if (!inPoint)
      blocking.tiles = left[kTileLoop];
  }
  if (!inPoint || blocking.chunkLoop == kPointLoop || nest.reductions.size() != 1 ||
      nest.reductions[0].dim != kInChannelLoop)
    return std::nullopt;
  blocking.rows = left[kTileLoop];
  blocking.planes = left[kOutBlockLoop];
  blocking.unroll = nest.reductions[0].unroll;
  return blocking;
}
