// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small graphs for tests.
#pragma once

#include "schedule/Graph.h"

namespace autotune {

/// A convolution, its relu and the addition of both: a diamond of three operators.
inline Graph residualGraph() {
  Graph graph;
  std::vector<int64_t> shape = {1, 64, 56, 56};
  graph.tensors = {{shape, "f32", -1, false},
                   {{64, 64, 3, 3}, "f32", -1, true},
                   {shape, "f32", 0, false},
                   {shape, "f32", 1, false},
                   {shape, "f32", 2, false}};
  graph.operators = {
      {0, "conv1", "conv2d", LayoutRole::Anchor, FusionRole::Root, {0, 1}, 2, 231211008},
      {1, "relu\n1", "elementwise", LayoutRole::Follows, FusionRole::Elementwise, {2}, 3, 200704},
      {2, "", "elementwise", LayoutRole::Follows, FusionRole::Elementwise, {2, 3}, 4, 200704}};
  graph.outputs = {4};
  return graph;
}

} // namespace autotune
