// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dataflow graph that partitioning decides on: operators with shapes, free of IR.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace autotune {

/// How an operator may take part in a blocked NCHW{b}c layout.
enum class LayoutRole {
  Plain,   // needs its operands as the model wrote them
  Anchor,  // gains from it: a convolution over an NCHW tensor
  Follows, // works in either, unchanged in cost: elementwise on NCHW, pooling, spatial padding
};

/// How an operator may be fused.
enum class FusionRole {
  Root,        // a contraction, reduction or pooling: anchors a kernel
  Elementwise, // parallel arithmetic: may join the producer of one of its operands as a tail
  Fill,        // a constant splat or init: cheap, recomputed by each consumer
  View,        // reshape and the like: no code at all
  Movement,    // transpose, gather, concat, slice: a kernel of its own
};

struct GraphTensor {
  std::vector<int64_t> shape;
  std::string dtype;
  int producer = -1; // operator index; -1: a model input or a constant
  bool constant = false;
};

struct GraphOperator {
  int id = 0;        // position in the function after simplification; fixed once
  std::string label; // ONNX node name; need not be unique
  std::string kind;  // "conv2d", "depthwise_conv2d", "matmul", "elementwise", …
  LayoutRole layout = LayoutRole::Plain;
  FusionRole fusion = FusionRole::Movement;
  std::vector<int> inputs; // tensor indices
  int output = -1;         // tensor index
  double flops = 0;
  bool minimalFiltering =
      false; // a convolution that Winograd's algorithm can compute, see schedule/Algorithm.h
};

struct Graph {
  std::vector<GraphOperator> operators; // topological order; operators[i].id == i
  std::vector<GraphTensor> tensors;
  std::vector<int> outputs; // tensor indices returned by the model

  /// One line an operator; the same on every run.
  std::string text() const;
};

} // namespace autotune
