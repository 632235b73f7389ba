// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The space: the knobs of a workload on a device, each with its legal values.
#pragma once

#include "schedule/Device.h"
#include "schedule/LoopRoles.h"
#include "schedule/Schedule.h"
#include "schedule/Workload.h"

#include <cstdint>
#include <string>
#include <vector>

namespace autotune {

struct Knob {
  std::string name;
  std::vector<int64_t> values; // ascending, never empty
};

struct Space {
  std::vector<Knob> knobs;  // sorted by name
  int vectorRegisters = 16; // of the device
  int lanes = 8;            // elements of the output in one vector register

  /// Number of combinations (saturates at 2^62).
  int64_t size() const;
  /// True if the schedule has exactly these knobs with legal values, its loop nest is valid for `workload`
  /// and its register tile fits the registers (or is the smallest there is).
  bool contains(const Workload &workload, const Schedule &schedule) const;
};

/// Vector registers that a register tile of `extents` (as `LoopNest::registerTile` gives them) needs:
/// accumulators, loaded vectors and a broadcast.
int64_t registersNeeded(const Workload &workload, const LoopRoles &roles, const std::vector<int64_t> &extents,
                        int lanes);

/// Names of the knobs of a workload, sorted. They depend on the workload alone: the values depend on the
/// device.
///   rows          register tile along the row dim (LoopRoles)
///   planes, cols  register tile along the plane dim, and along a vector dim that is not whole in it
///   cache_rows, cache_planes   register tiles (or outer row steps) in a cache block along
///   LoopRoles::cacheRow, cachePlane order         0: row loops outside plane loops, 1: inside unroll of the
///   innermost reduction loop parallel      0: none, else which of LoopRoles::parallelDims the threads share
///   chunks        pieces that the parallel dim is cut into, each a whole number of register tiles
/// Normalisations: cols is the width of the vectors along a row. Attention: rows are the queries of a tile
/// (its lanes), planes the keys or elements of values side by side in registers, cols the keys of a block.
/// Recurrences: rows of the batch and cols, units, are side by side in registers, with all their gates;
/// depth are the numbers of the state that all rows are multiplied with before the next ones.
std::vector<std::string> knobNames(const Workload &workload, const LoopRoles &roles);

/// About eight knobs for contraction-like workloads, two to four for the rest, none where there is no choice.
/// The first value of each knob together is always a valid schedule.
Space buildSpace(const Workload &workload, const Device &device);

} // namespace autotune
