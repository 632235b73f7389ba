// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The least time that an operator can take: arithmetic at the peak, or every byte once from where it fits.
#pragma once

#include "benchmarks/OperatorShape.h"
#include "schedule/Device.h"

#include <string>
#include <vector>

namespace autotune::benchmarks {

/// A cache or the memory, with its read bandwidth, over all threads.
struct MemoryLevel {
  std::string name;
  double bytes = 0; // that fit; infinite for the memory
  double gbs = 0;
};

/// L1, L2, L3 and memory, measured now, each thread on data of its own. Takes about a second.
std::vector<MemoryLevel> measureLevels(const Device &device, int threads);

struct Bound {
  double ns = 0;
  std::string by; // "peak", or the name of a level
};

/// An operator that is run again and again finds its operands in the smallest level that holds them all.
Bound lowerBound(const Operator &op, double peakGflops, const std::vector<MemoryLevel> &levels);

} // namespace autotune::benchmarks
