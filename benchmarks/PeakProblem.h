// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels that are held against the arithmetic peak, as small models.
#pragma once

#include "schedule/Graph.h"
#include "schedule/Partition.h"

#include <string>

namespace autotune::benchmarks {

struct Problem {
  std::string name;
  std::string text;     // a module with @main
  int channelBlock = 0; // of every operator; 0: plain

  /// Each contraction with the elementwise operators behind it, every other operator by itself.
  Partition partition(const Graph &graph) const;
};

/// Two convolutions in a row, 64 -> 64 channels, 3x3, 56x56, each with padding, bias and ReLU: what one
/// convolution costs inside a network, where its producer writes into the padded buffer that it reads.
Problem convolutionProblem(int channelBlock);
/// 512 x 512 x 512 with a constant right side.
Problem matmulProblem();

} // namespace autotune::benchmarks
