// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Features from the terms of the analytical model.
#include "cost_model/Features.h"

#include "cost_model/AnalyticalModel.h"
#include "schedule/LoopRoles.h"
#include "schedule/Space.h"

#include <cassert>
#include <cmath>

using namespace autotune;

static constexpr llvm::StringLiteral kNames[] = {
    "form",
    "op_class",
    "flops_log2",
    "bytes_log2",
    "working_set_log2",
    "rows",
    "planes",
    "cols",
    "accumulators",
    "registers_used",
    "spilled",
    "unroll",
    "full_tile_share",
    "tiles_log2",
    "reduction_log2",
    "core_log2",
    "arithmetic_share",
    "load_share",
    "latency_share",
    "loop_share",
    "l1_traffic_log2",
    "l2_traffic_log2",
    "l3_traffic_log2",
    "strided_share",
    "intensity_l1",
    "intensity_l2",
    "chunks_log2",
    "parallel_share",
    "threads",
    "epilogue_ops",
    "loops",
    "fma_gflops_log2",
    "predicted_log2",
};

llvm::ArrayRef<llvm::StringLiteral> autotune::featureNames() { return kNames; }

static double log2Of(double x) { return std::log2(1 + x); }
static double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

std::vector<float> autotune::extractFeatures(const Workload &workload, const LoopNest &nest,
                                             const Device &device) {
  LoopRoles roles = loopRoles(workload);
  NestCost cost = nestCost(workload, nest, device);
  const TileCost &tile = cost.tile;
  std::vector<int64_t> extents = nest.registerTile(workload);
  auto extent = [&](int dim) { return dim < 0 ? 1.0 : double(extents[dim]); };
  int lanes = std::max<int>(1, device.vectorBytes() / int(elementBytes(workload.output.dtype)));
  double registers = double(registersNeeded(workload, roles, extents, lanes)) / device.vectorRegisters();
  double unroll = nest.reductions.empty() ? 1 : double(nest.reductions.back().unroll);
  const double values[] = {
      double(roles.form),
      double(workload.opClass),
      log2Of(workload.flops()),
      log2Of(workload.bytes()),
      log2Of(cost.traffic.workingSet),
      extent(roles.row),
      extent(roles.plane),
      extent(roles.vector),
      tile.accumulators,
      registers,
      tile.spilled,
      unroll,
      tile.fullTileShare,
      log2Of(tile.tiles),
      log2Of(double(reductionExtent(workload))),
      log2Of(cost.coreNs),
      ratio(tile.arithmeticCycles, tile.cycles),
      ratio(tile.loadCycles, tile.cycles),
      ratio(tile.latencyCycles, tile.cycles),
      ratio(tile.loopCycles, tile.cycles),
      log2Of(cost.traffic.intoL1),
      log2Of(cost.traffic.intoL2),
      log2Of(cost.traffic.intoL3),
      ratio(cost.traffic.stridedL1, cost.traffic.intoL1),
      log2Of(ratio(workload.flops(), cost.traffic.intoL1)),
      log2Of(ratio(workload.flops(), cost.traffic.intoL2)),
      log2Of(double(nest.chunks(workload))),
      cost.parallelShare,
      double(workload.threads),
      double(workload.epilogue.size()),
      double(nest.tiles.size()),
      log2Of(assumedPeaks(device).fmaGflops),
      log2Of(cost.totalNs),
  };
  static_assert(std::size(values) == std::size(kNames), "every feature has a name");
  return std::vector<float>(std::begin(values), std::end(values));
}
