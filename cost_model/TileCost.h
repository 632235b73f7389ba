// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Core cycles of a nest's register tiles, rests included, as if all data were in L1.
#pragma once

#include "schedule/Device.h"
#include "schedule/LoopNest.h"
#include "schedule/LoopRoles.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace autotune {

/// Sizes of the innermost blocks of one dim and how many there are of each.
using BlockSizes = std::vector<std::pair<int64_t, int64_t>>;
/// Cuts `extent` by `steps`, outermost first; every cut that does not divide leaves a smaller rest.
BlockSizes cutBlocks(int64_t extent, const std::vector<int64_t> &steps);

/// What the core executes over the whole nest. Ports and latency overlap: a step takes the longest of them.
struct TileCost {
  double cycles = 0;           // in all: steps, loops, start and end of tiles
  double arithmeticCycles = 0; // lower bound of the arithmetic ports alone
  double loadCycles = 0;       // lower bound of the load ports alone
  double latencyCycles = 0;    // waiting for the previous step's accumulators
  double loopCycles = 0;       // control and addresses
  double tiles = 0;            // register tiles computed, rests included
  double fullTileShare = 1;    // share of them that are not a rest
  double accumulators = 1;     // vectors in the largest tile
  double spilled = 0;          // vectors of the largest tile that do not fit the registers
};

TileCost tileCost(const Workload &workload, const LoopNest &nest, const Device &device);

} // namespace autotune
