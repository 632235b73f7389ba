// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "benchmarks/operators/Roofline.h"

#include "tools/MeasureDevice.h"

#include <numeric>
#include <thread>

namespace autotune::benchmarks {
namespace {

std::string levelOf(const Device &device, int threads, double bytes) {
  if (bytes <= double(device.l1Bytes) * threads)
    return "L1";
  if (bytes <= double(device.l2Bytes) * threads)
    return "L2";
  return bytes <= double(device.l3Bytes) ? "L3" : "memory";
}

} // namespace

Bandwidth measureBandwidth(const Device &device, int threads, double bytes) {
  std::vector<double> rates(size_t(threads), 0);
  std::vector<std::thread> readers;
  for (double &rate : rates)
    readers.emplace_back([&] { rate = measureReadGBs(device, int64_t(bytes / threads)); });
  for (std::thread &reader : readers)
    reader.join();
  return {levelOf(device, threads, bytes), std::accumulate(rates.begin(), rates.end(), 0.0)};
}

std::vector<Bandwidth> measureLevels(const Device &device, int threads) {
  std::vector<Bandwidth> levels;
  // Half of each cache, so that nothing else that is there pushes it out.
  for (double bytes : {double(device.l1Bytes) / 2 * threads, double(device.l2Bytes) / 2 * threads,
                       double(device.l3Bytes) / 2, double(device.l3Bytes) * 4})
    levels.push_back(measureBandwidth(device, threads, bytes));
  return levels;
}

Bound lowerBound(const Operator &op, double peakGflops, const Bandwidth &bandwidth) {
  Bound arithmetic{flops(op) / peakGflops, "peak"}, traffic{bytes(op) / bandwidth.gbs, bandwidth.level};
  return arithmetic.ns >= traffic.ns ? arithmetic : traffic;
}

} // namespace autotune::benchmarks
