// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a loop nest over the products of a Winograd convolution says of its kernel.
#pragma once

#include "schedule/LoopNest.h"

#include <optional>

namespace autotune {

/// Loops of `winogradProducts`.
enum WinogradLoop { kPointLoop, kTileLoop, kOutBlockLoop, kLaneLoop, kInChannelLoop };

struct WinogradBlocking {
  int64_t tiles = 1;            // whose transforms are alive at a time
  int64_t rows = 1, planes = 1; // of the register tile: tiles and blocks of output channels
  int64_t unroll = 1;           // of the loop over input channels
  /// The loop that threads share, in chunks of so many steps; nothing for one thread.
  std::optional<WinogradLoop> chunkLoop;
  int64_t chunk = 0;
};

/// Nothing for a nest that no Winograd kernel can have. `tiles` and `outBlocks` are the extents of the loops.
std::optional<WinogradBlocking> winogradBlocking(const LoopNest &nest, int64_t tiles, int64_t outBlocks);

} // namespace autotune
