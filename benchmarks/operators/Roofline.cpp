// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "benchmarks/operators/Roofline.h"

#include "tools/MeasureDevice.h"

#include <algorithm>
#include <limits>
#include <thread>

namespace autotune::benchmarks {
namespace {

/// The sum over threads that read at the same time.
double readGBs(const Device &device, int64_t bytes, int threads) {
  std::vector<double> rates(size_t(threads), 0);
  std::vector<std::thread> readers;
  for (double &rate : rates)
    readers.emplace_back([&] { rate = measureReadGBs(device, bytes); });
  double sum = 0;
  for (size_t i = 0; i < rates.size(); ++i) {
    readers[i].join();
    sum += rates[i];
  }
  return sum;
}

} // namespace

std::vector<MemoryLevel> measureLevels(const Device &device, int threads) {
  auto level = [&](const char *name, int64_t bytes, bool shared) {
    // Half of it, so that nothing else that is there pushes it out.
    int64_t each = bytes / 2 / (shared ? threads : 1);
    return MemoryLevel{name, double(bytes) * (shared ? 1 : threads), readGBs(device, each, threads)};
  };
  int64_t memory = std::clamp<int64_t>(4 * device.l3Bytes, 64 << 20, 256 << 20);
  return {level("L1", device.l1Bytes, false),
          level("L2", device.l2Bytes, false),
          level("L3", device.l3Bytes, true),
          {"memory", std::numeric_limits<double>::infinity(), readGBs(device, memory / threads, threads)}};
}

Bound lowerBound(const Operator &op, double peakGflops, const std::vector<MemoryLevel> &levels) {
  double traffic = bytes(op);
  auto level = std::find_if(levels.begin(), levels.end(),
                            [&](const MemoryLevel &candidate) { return traffic <= candidate.bytes; });
  Bound arithmetic{flops(op) / peakGflops, "peak"}, bandwidth{traffic / level->gbs, level->name};
  return arithmetic.ns >= bandwidth.ns ? arithmetic : bandwidth;
}

} // namespace autotune::benchmarks
