// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The analytical cost model: core cycles of the register tiles against the traffic of each memory level.
#pragma once

#include "cost_model/CostModel.h"
#include "cost_model/Footprint.h"
#include "cost_model/TileCost.h"
#include "schedule/Device.h"

namespace autotune {

/// The terms of a prediction.
struct NestCost {
  TileCost tile;
  Traffic traffic;
  double coreNs = 0;                       // on one core, all data in L1
  double l2Ns = 0, l3Ns = 0, memoryNs = 0; // time of the traffic from each level, one core
  double parallelShare = 1;                // busiest thread's part of the work
  double forkJoinNs = 0;
  double totalNs = 0;
};

/// Peaks of the device that the model uses; defaults for those that were not measured.
DevicePeaks assumedPeaks(const Device &device);

NestCost nestCost(const Workload &workload, const LoopNest &nest, const Device &device);

/// No schedule of the workload is faster: arithmetic at the peak of all threads, and every byte once through
/// L2.
double boundNs(const Workload &workload, const Device &device);

/// Part of the work that the busiest of `threads` threads gets when they take `chunks` chunks in turn; the
/// last chunk has `lastShare` (0 to 1) of the work of the others.
double busiestShare(int64_t chunks, double lastShare, int threads);

class AnalyticalModel : public CostModel {
public:
  explicit AnalyticalModel(Device device) : device(std::move(device)) {}
  std::vector<double> predict(std::span<const CostQuery> queries) const override;

private:
  Device device;
};

} // namespace autotune
