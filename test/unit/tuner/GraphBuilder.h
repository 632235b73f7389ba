// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes small dataflow graphs as lists of operators.
#pragma once

#include "schedule/Graph.h"

#include <string>
#include <utility>
#include <vector>

namespace autotune {

class GraphBuilder {
public:
  explicit GraphBuilder(std::vector<int64_t> shape = {1, 64, 56, 56}) : shape(std::move(shape)) {}

  /// A tensor that nobody in the graph makes.
  int input() {
    graph.tensors.push_back({shape, "f32", -1, false});
    return int(graph.tensors.size()) - 1;
  }
  /// Each returns the tensor that it makes.
  int conv(std::vector<int> inputs) {
    return add("conv2d", LayoutRole::Anchor, FusionRole::Root, std::move(inputs));
  }
  int pool(std::vector<int> inputs) {
    return add("pool_max", LayoutRole::Follows, FusionRole::Root, std::move(inputs));
  }
  int matmul(std::vector<int> inputs) {
    return add("matmul", LayoutRole::Plain, FusionRole::Root, std::move(inputs));
  }
  int map(std::vector<int> inputs, LayoutRole layout = LayoutRole::Follows) {
    return add("elementwise", layout, FusionRole::Elementwise, std::move(inputs));
  }
  int fill() { return add("fill", LayoutRole::Plain, FusionRole::Fill, {}); }
  int view(std::vector<int> inputs) {
    return add("reshape", LayoutRole::Plain, FusionRole::View, std::move(inputs));
  }
  int move(std::vector<int> inputs) {
    return add("movement", LayoutRole::Plain, FusionRole::Movement, std::move(inputs));
  }

  Graph finish(std::vector<int> outputs) {
    graph.outputs = std::move(outputs);
    return std::move(graph);
  }

  /// Shape of the operators that follow.
  std::vector<int64_t> shape;

private:
  int add(const char *kind, LayoutRole layout, FusionRole fusion, std::vector<int> inputs) {
    int id = int(graph.operators.size()), output = int(graph.tensors.size());
    graph.tensors.push_back({shape, "f32", id, false});
    graph.operators.push_back(
        {id, kind + std::to_string(id), kind, layout, fusion, std::move(inputs), output, 1e6});
    return output;
  }

  Graph graph;
};

} // namespace autotune
