// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who reads whom, and through which operator everything that depends on another one passes.
#pragma once

#include "schedule/Graph.h"

#include <optional>
#include <vector>

namespace autotune {

class DataflowGraph {
public:
  explicit DataflowGraph(const Graph &graph);

  /// Operators that read the result of `op`, ascending, each once.
  const std::vector<int> &consumers(int op) const { return readers[op]; }
  /// Operators whose results `op` reads, ascending, each once.
  const std::vector<int> &producers(int op) const { return sources[op]; }
  /// True if the model returns the result of `op`.
  bool isReturned(int op) const { return returned[op]; }

  /// The nearest operator that every path from `op` to a result of the model passes (its immediate
  /// post-dominator); nullopt if there is none.
  std::optional<int> meetingPoint(int op) const;
  /// Every operator on a path from `op` to its meeting point, both left out, ascending.
  std::vector<int> between(int op, int meeting) const;

private:
  std::vector<std::vector<int>> readers, sources;
  std::vector<bool> returned;
  std::vector<int> postDominators; // the number of operators stands for "none"
};

} // namespace autotune
