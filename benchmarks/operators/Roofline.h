// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The least time that an operator can take: arithmetic at the peak, or every byte once from where it fits.
#pragma once

#include "benchmarks/OperatorShape.h"
#include "schedule/Device.h"

#include <string>
#include <vector>

namespace autotune::benchmarks {

/// Read bandwidth over all threads, each of which reads data of its own.
struct Bandwidth {
  std::string level; // the smallest cache that holds the data, or the memory
  double gbs = 0;
};

/// Measured now, on `bytes` of data that are read again and again.
Bandwidth measureBandwidth(const Device &device, int threads, double bytes);
/// L1, L2, L3 and memory. Takes about a second.
std::vector<Bandwidth> measureLevels(const Device &device, int threads);

struct Bound {
  double ns = 0;
  std::string by; // "peak", or the name of a level
};

/// An operator that is run again and again finds its operands where data of that size stay; `bandwidth` is
/// that of its bytes.
Bound lowerBound(const Operator &op, double peakGflops, const Bandwidth &bandwidth);

} // namespace autotune::benchmarks
