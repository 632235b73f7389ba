// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a Conv node says, for all operators that are convolutions.
#pragma once

#include "frontend/ConvolutionEmit.h"
#include "frontend/Window.h"

namespace autotune {

struct Convolution {
  ConvolutionSpec spec;
  Window window;
};

/// Reads the attributes of a node with the given operands as input and weight; shapes are checked.
mlir::FailureOr<Convolution> readConvolution(NodeContext &node, size_t input, size_t weight);
/// The same for an input of this shape: [batch, channels, …].
mlir::FailureOr<Convolution> readConvolution(NodeContext &node, llvm::ArrayRef<int64_t> input,
                                             llvm::ArrayRef<int64_t> weight);

/// Conv of floats: operands input, weight and bias. With `channelsLast`, input and result are [batch, …, channels].
mlir::FailureOr<mlir::Value> convolved(NodeContext &node, bool channelsLast = false);

} // namespace autotune
