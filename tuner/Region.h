// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A piece of the graph before partitioning: the key of a subgraph record.
#pragma once

#include "schedule/Graph.h"
#include "schedule/Partition.h"
#include "schedule/Workload.h"
#include "tuner/LayoutChains.h"

#include <string>
#include <vector>

namespace autotune {

struct Region {
  std::string name; // class of the region: "conv-chain", "conv"
  std::string text; // canonical: operators, shapes, edges, border layouts, threads, numerics; no names
  std::vector<int> operators; // ids in the graph, ascending

  std::string key() const { return hashText(text); }
};

/// The region of a layout chain. Its borders are plain: what is not in the chain cannot be blocked.
Region chainRegion(const Graph &graph, const LayoutChain &chain, int threads, Numerics numerics);

/// The region in which the algorithm of one convolution is decided: a subgraph in its layout.
Region convolutionRegion(const Graph &graph, const Subgraph &subgraph, int threads, Numerics numerics);

} // namespace autotune
