// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes that a loop nest moves between the levels of the memory hierarchy.
#pragma once

#include "schedule/Device.h"
#include "schedule/LoopNest.h"

namespace autotune {

/// Bytes into each level from the one below it, over one run of the nest. A block of loops whose arrays fit a
/// cache loads each array once; a loop around it that does not index an array finds it still there.
struct Traffic {
  double intoL1 = 0;     // from L2
  double intoL2 = 0;     // from L3
  double intoL3 = 0;     // from memory
  double stridedL1 = 0;  // the part of intoL1 in runs too short for the prefetcher
  double evictedL1 = 0;  // from L2 once more, because the lines of one register tile evict each other
  double workingSet = 0; // bytes of all arrays
};

/// Weights start in memory (the model streams them), activations where their size lets their producer leave
/// them.
Traffic nestTraffic(const Workload &workload, const LoopNest &nest, const Device &device);

} // namespace autotune
