// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that share one blocked layout: the unit of the layout decision.
#pragma once

#include "schedule/Graph.h"

#include <vector>

namespace autotune {

/// Operators connected by values that may all be in NCHW{b}c, at least one of which gains from it.
struct LayoutChain {
  std::vector<int> operators; // ids, ascending
  bool operator==(const LayoutChain &) const = default;
};

/// Maximal chains, in the order of their first operators.
std::vector<LayoutChain> layoutChains(const Graph &graph);

} // namespace autotune
