// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Register tiles, chunks and validity of loop nests.
#include "schedule/LoopNest.h"

#include "schedule/Errors.h"
#include "schedule/LoopRoles.h"

#include "llvm/Support/MathExtras.h"

using namespace autotune;

std::vector<int64_t> LoopNest::registerTile(const Workload &workload) const {
  std::vector<int64_t> tile;
  for (const LoopDim &dim : workload.dims)
    if (!dim.reduction)
      tile.push_back(dim.extent);
  for (const TileLoop &loop : tiles)
    tile[loop.dim] = std::min(tile[loop.dim], loop.step);
  return tile;
}

int64_t LoopNest::chunks(const Workload &workload) const {
  if (!parallel || tiles.empty())
    return 1;
  return int64_t(llvm::divideCeil(workload.dims[tiles[0].dim].extent, tiles[0].step));
}

static llvm::Error verifyTiles(const LoopNest &nest, const Workload &workload) {
  std::vector<int64_t> left;
  for (const LoopDim &dim : workload.dims)
    left.push_back(dim.extent);
  for (auto [level, loop] : llvm::enumerate(nest.tiles)) {
    if (loop.dim < 0 || loop.dim >= int(workload.dims.size()))
      return makeError("loop nest: loop {0}: found dim {1}, expected 0 to {2}", level, loop.dim,
                       int(workload.dims.size()) - 1);
    if (workload.dims[loop.dim].reduction)
      return makeError("loop nest: loop {0}: found reduction dim {1}, expected a parallel dim", level,
                       loop.dim);
    if (loop.step < 1 || loop.step > left[loop.dim])
      return makeError("loop nest: loop {0} over dim {1}: found step {2}, expected 1 to {3}", level, loop.dim,
                       loop.step, left[loop.dim]);
    left[loop.dim] = loop.step;
  }
  if (nest.parallel && nest.tiles.empty())
    return makeError("loop nest: found parallel chunks without a loop, expected a first loop");
  return llvm::Error::success();
}

static llvm::Error verifyReductions(const LoopNest &nest, const Workload &workload) {
  std::vector<bool> seen(workload.dims.size());
  for (const ReductionLoop &loop : nest.reductions) {
    if (loop.dim < 0 || loop.dim >= int(workload.dims.size()) || !workload.dims[loop.dim].reduction)
      return makeError("loop nest: found reduction loop over dim {0}, expected a reduction dim", loop.dim);
    if (seen[loop.dim])
      return makeError("loop nest: found reduction dim {0} twice, expected it once", loop.dim);
    seen[loop.dim] = true;
    int64_t extent = workload.dims[loop.dim].extent;
    // Passes over rows, blocks of columns and of a state have rests.
    bool mayRest = workload.opClass == OpClass::Normalization || workload.opClass == OpClass::Attention ||
                   workload.opClass == OpClass::Recurrence;
    if (loop.unroll < 1 || (!mayRest && extent % loop.unroll != 0))
      return makeError("loop nest: reduction dim {0}: found unroll {1}, expected a divisor of {2}", loop.dim,
                       loop.unroll, extent);
  }
  if (nest.reductions.empty())
    return llvm::Error::success();
  for (auto [index, dim] : llvm::enumerate(workload.dims))
    if (dim.reduction && !seen[index])
      return makeError("loop nest: found no loop over reduction dim {0}, expected all reduction dims or none",
                       index);
  return llvm::Error::success();
}

llvm::Error LoopNest::verify(const Workload &workload) const {
  if (llvm::Error error = verifyTiles(*this, workload))
    return error;
  if (llvm::Error error = verifyReductions(*this, workload))
    return error;
  int64_t elements = reductions.empty() ? reductionExtent(workload) : 1;
  for (int64_t extent : registerTile(workload))
    elements = llvm::SaturatingMultiply<uint64_t>(elements, extent);
  if (elements < 0 || elements > kMaxTileElements)
    return makeError("loop nest: found a register tile of {0} elements, expected at most {1}", elements,
                     kMaxTileElements);
  return llvm::Error::success();
}
