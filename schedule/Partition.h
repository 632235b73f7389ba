// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The partition: every operator's subgraph, with its layout and algorithm, as data.
#pragma once

#include "schedule/Graph.h"
#include "schedule/Workload.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace autotune {

/// Operators compiled as one kernel.
struct Subgraph {
  std::vector<int> operators; // ids, ascending; exactly one of them is the root when there is a contraction
  int channelBlock = 0;       // 0: plain layout; 8, 16, 32: NCHW{b}c for its activations
  std::string algorithm = "direct";
  bool operator==(const Subgraph &) const = default;
};

struct Partition {
  std::vector<Subgraph> subgraphs; // topological order

  /// YAML text with each operator's kind, label and output shape as comments; the same on every run;
  /// round-trips.
  std::string text(const Graph &graph) const;
  /// Errors give line, found and expected.
  static llvm::Expected<Partition> parse(llvm::StringRef text);
  /// Every operator exactly once, no cycle between subgraphs, known layouts, algorithms that their operators
  /// can have under `numerics`. Names the offenders.
  llvm::Error verify(const Graph &graph, Numerics numerics = Numerics::Default) const;
  bool operator==(const Partition &) const = default;
};

} // namespace autotune
