// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Combines tiles, traffic and threads into a time.
#include "cost_model/AnalyticalModel.h"

#include "llvm/Support/Error.h"

#include <algorithm>
#include <cmath>

using namespace autotune;

// Where a device's peaks were not measured: a server core of 2020 or later at about 3 GHz.
static constexpr double kDefaultGflopsAvx2 = 92, kDefaultGflopsAvx512 = 116;
static constexpr double kDefaultL2GBs = 75, kDefaultMemoryGBs = 24;
static constexpr double kDefaultForkJoinNs = 1500;
// What does not hide behind the slowest of core and memory levels: out-of-order execution covers L2 nearly
// whole, the prefetchers the rest in part.
static constexpr double kCoreExposed = 0.2, kL2Exposed = 0.06, kL3Exposed = 0.15, kMemoryExposed = 0.2;
// Runs too short for the prefetcher wait for part of the latency of L2.
static constexpr double kShortRunSlowdown = 2;
// Two cores of one memory controller reach so much of twice one core's bandwidth.
static constexpr double kSharedBandwidthGain = 1.4;
static constexpr double kFlopsPerLaneCycle = 4; // two FMA ports
static constexpr int64_t kFloatBytes = 4;

DevicePeaks autotune::assumedPeaks(const Device &device) {
  DevicePeaks peaks = device.peaks.value_or(DevicePeaks());
  auto assume = [](double &value, double fallback) {
    if (value <= 0)
      value = fallback;
  };
  assume(peaks.fmaGflops, device.isa == Isa::Avx512 ? kDefaultGflopsAvx512 : kDefaultGflopsAvx2);
  assume(peaks.l2GBs, kDefaultL2GBs);
  assume(peaks.memoryGBs, kDefaultMemoryGBs);
  assume(peaks.forkJoinNs, kDefaultForkJoinNs);
  return peaks;
}

double autotune::busiestShare(int64_t chunks, double lastShare, int threads) {
  if (chunks <= 1 || threads <= 1)
    return 1;
  int64_t whole = chunks - 1;
  double total = double(whole) + lastShare;
  double busiest = double((whole + threads - 1) / threads);
  // The small last chunk goes to a thread that is idle, if there is one.
  if (whole % threads == 0)
    busiest += lastShare;
  return std::min(1.0, busiest / total);
}

static double parallelShare(const Workload &workload, const LoopNest &nest) {
  int64_t chunks = nest.chunks(workload);
  if (chunks <= 1)
    return 1;
  int64_t extent = workload.dims[nest.tiles.front().dim].extent, step = nest.tiles.front().step;
  int64_t last = extent - (chunks - 1) * step;
  return busiestShare(chunks, double(last) / double(step), workload.threads);
}

double autotune::boundNs(const Workload &workload, const Device &device) {
  DevicePeaks peaks = assumedPeaks(device);
  double threads = double(std::max(1, workload.threads));
  // Half-wide elements fit twice; the peak is of four bytes. One operation a lane where nothing is multiplied
  // and added.
  double width = double(kFloatBytes) / double(elementBytes(workload.output.dtype));
  bool fused = workload.opClass == OpClass::Contraction || workload.opClass == OpClass::Depthwise ||
               workload.opClass == OpClass::Recurrence;
  double arithmetic = workload.flops() / (peaks.fmaGflops * width * (fused ? 1 : 0.5));
  return std::max(arithmetic, workload.bytes() / peaks.l2GBs) / threads;
}

NestCost autotune::nestCost(const Workload &workload, const LoopNest &nest, const Device &device) {
  DevicePeaks peaks = assumedPeaks(device);
  NestCost cost;
  cost.tile = tileCost(workload, nest, device);
  cost.traffic = nestTraffic(workload, nest, device);
  double cycleNs = kFlopsPerLaneCycle * double(device.datapathBytes() / kFloatBytes) / peaks.fmaGflops;
  double l3GBs = std::sqrt(peaks.l2GBs * peaks.memoryGBs);
  cost.coreNs = cost.tile.cycles * cycleNs;
  cost.l2Ns = (cost.traffic.intoL1 + (kShortRunSlowdown - 1) * cost.traffic.stridedL1) / peaks.l2GBs;
  cost.l3Ns = cost.traffic.intoL2 / l3GBs;
  cost.memoryNs = cost.traffic.intoL3 / peaks.memoryGBs;
  cost.parallelShare = parallelShare(workload, nest);
  cost.forkJoinNs = cost.parallelShare < 1 ? peaks.forkJoinNs : 0;
  double sharedBandwidth =
      std::max(cost.parallelShare, cost.parallelShare < 1 ? 1 / kSharedBandwidthGain : 1.0);
  const double parts[] = {cost.coreNs * cost.parallelShare, cost.l2Ns * cost.parallelShare,
                          cost.l3Ns * cost.parallelShare, cost.memoryNs * sharedBandwidth};
  const double exposed[] = {kCoreExposed, kL2Exposed, kL3Exposed, kMemoryExposed};
  double exposedNs = 0;
  for (size_t i = 0; i < std::size(parts); ++i)
    exposedNs += exposed[i] * parts[i];
  for (size_t i = 0; i < std::size(parts); ++i)
    cost.totalNs = std::max(cost.totalNs, (1 - exposed[i]) * parts[i] + exposedNs);
  // Every step waits for such lines; nothing else can be done meanwhile.
  cost.totalNs += kShortRunSlowdown * cost.traffic.evictedL1 / peaks.l2GBs * cost.parallelShare;
  cost.totalNs += cost.forkJoinNs;
  return cost;
}

std::vector<double> AnalyticalModel::predict(std::span<const CostQuery> queries) const {
  std::vector<double> times;
  for (const CostQuery &query : queries) {
    LoopNest nest =
        llvm::cantFail(buildLoopNest(*query.workload, *query.schedule), "expected a legal schedule");
    times.push_back(nestCost(*query.workload, nest, device).totalNs);
  }
  return times;
}
