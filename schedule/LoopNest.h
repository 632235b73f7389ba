// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loop nest that a schedule stands for: what code generation emits and what the cost model prices.
#pragma once

#include "schedule/Schedule.h"
#include "schedule/Workload.h"

#include "llvm/Support/Error.h"

#include <cstdint>
#include <vector>

namespace autotune {

/// One loop over parallel dim `dim` in steps of `step` elements. A step need not divide what is left of the
/// extent: the rest becomes a second, smaller static tile.
struct TileLoop {
  int dim = 0;
  int64_t step = 1;
  bool operator==(const TileLoop &) const = default;
};

/// One reduction loop in steps of 1, unrolled `unroll` times (`unroll` divides the extent). In normalisations
/// the width of the vectors along a row, in attention that of a block of columns, in recurrences that of a
/// block of the state; there may be a rest then.
struct ReductionLoop {
  int dim = 0;
  int64_t unroll = 1;
  bool operator==(const ReductionLoop &) const = default;
};

struct LoopNest {
  /// Outermost first. The last step of a dim is its register tile; a dim without a loop is whole in the
  /// register tile.
  std::vector<TileLoop> tiles;
  /// Outermost first; every reduction dim of the workload exactly once, or none when the tile is not
  /// vectorised by steps of the reduction (then the whole reduction is done inside the register tile).
  std::vector<ReductionLoop> reductions;
  /// The first loop of `tiles` is cut into chunks that threads share: one chunk a step.
  bool parallel = false;

  /// Register tile extent of each parallel dim, in the order of `Workload::dims`.
  std::vector<int64_t> registerTile(const Workload &workload) const;
  /// Chunks that the runtime hands out: steps of the first loop when `parallel`, else 1.
  int64_t chunks(const Workload &workload) const;
  /// Says why a nest cannot be emitted for `workload`: dim out of range, step that grows, reduction missing
  /// twice, …
  llvm::Error verify(const Workload &workload) const;
  bool operator==(const LoopNest &) const = default;
};

/// Turns knob values into loops. Errors: a knob that is missing, unknown or not legal for `workload`.
llvm::Expected<LoopNest> buildLoopNest(const Workload &workload, const Schedule &schedule);

} // namespace autotune
