// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The partition that is used without measuring: roots with their elementwise tails, one layout per chain.
#pragma once

#include "schedule/Graph.h"
#include "schedule/Partition.h"
#include "tuner/LayoutChains.h"

#include "llvm/ADT/ArrayRef.h"

namespace autotune {

/// Every chain of `layoutChains(graph)` in NCHW{channelBlock}c; 0: everything plain.
Partition defaultPartition(const Graph &graph, int channelBlock);

/// The same with one block for each chain. Fusion rules, for operators in one layout:
/// - An elementwise operator joins the subgraph that makes one of its operands, if that value has its shape
/// and is
///   read by nothing outside the joined subgraph; of several, the one that is computed last. Where the value
///   is read more than once (`x * sigmoid(x)`), everything up to the meeting point joins together, or nothing
///   does.
/// - A fill joins its only reader. Views stand alone, with algorithm "view"; so does all movement.
/// A subgraph therefore has one result, computed by its last operator, on which all others only act: no path
/// leaves it and comes back. The order (by last operator) is topological and the same on every run.
Partition partitionWith(const Graph &graph, llvm::ArrayRef<LayoutChain> chains,
                        llvm::ArrayRef<int> channelBlocks);

} // namespace autotune
