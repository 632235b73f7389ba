// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What each loop of a workload is good for: vector, register rows, register planes, outer loops.
#pragma once

#include "schedule/Workload.h"

#include <array>
#include <cstdint>
#include <vector>

namespace autotune {

/// The shape of loop nest that a workload gets; decides its knobs.
enum class NestForm {
  Contraction,  // register tile rows x planes x vector, accumulated over loops of the reductions
  Window,       // register tile rows x vector, accumulated over loops of the reductions
  RowReduction, // the reductions run along memory: whole inside the register tile
  Winograd,     // a contraction for each point of a tile, between transforms of a block of tiles
  Pointwise,    // no reduction
  Rows,         // passes over one row at a time, in vectors along the reduction
  Attention,    // rows of the query along the lanes, keys and values beside each other in registers
  Recurrence,   // all gates of a tile rows x vector summed over the state, in every step
};

/// Loops of extent 1 have no role. A dim is -1 when the workload has none.
struct LoopRoles {
  NestForm form = NestForm::Pointwise;
  int vector = -1; // runs along the lanes
  int row = -1;    // register rows: several values of the broadcast input
  int plane = -1;  // register planes: several vectors of the vector input
  /// Further loops that index the broadcast input only, the vector input only, and the rest; outermost first.
  std::vector<int> outerRows, outerPlanes, batch;
  std::vector<int> reductions; // every reduction dim, extent 1 included, in the order of the workload
  int broadcastInput = 0, vectorInput = 1; // of a contraction
  bool tiledVector = false;                // the vector dim is too long for a register tile (knob `cols`)

  /// The dim that cache_rows cuts: the last outer row loop, or the register rows when there is none.
  int cacheRow() const { return outerRows.empty() ? row : outerRows.back(); }
  /// The dim that cache_planes cuts: the register planes, or a vector dim that needs tiles.
  int cachePlane() const { return plane >= 0 ? plane : tiledVector ? vector : -1; }
  /// Meaning of the values 1, 2, 3 of the knob `parallel`: the dim that threads share, or -1.
  std::array<int, 3> parallelDims() const;
  bool hasParallelDim() const { return parallelDims() != std::array<int, 3>{-1, -1, -1}; }
};

LoopRoles loopRoles(const Workload &workload);

/// Elements that a register tile may have at most, reductions inside it included: beyond, the straight-line
/// code of one tile no longer fits the instruction cache.
inline constexpr int64_t kMaxTileElements = 4096;
/// Longest vector dim that stays whole in a register tile, and longest tile of a longer one.
inline constexpr int64_t kMaxVectorTile = 32;
/// The same where nothing is accumulated.
inline constexpr int64_t kMaxPointwiseTile = 64;

/// Product of the extents of the reduction dims.
int64_t reductionExtent(const Workload &workload);
/// True if an index expression of the operand has `dim`.
bool usesDim(const OperandInfo &operand, int dim);

} // namespace autotune
