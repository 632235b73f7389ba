// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sliding windows of convolutions and pooling: strides, dilations, padding, output size.
#pragma once

#include "frontend/NodeContext.h"

namespace autotune {

/// One entry for each spatial dimension.
struct Window {
  Shape kernel, strides, dilations;
  Shape padLow, padHigh;  // exactly what the windows read beyond the input
  Shape output;
  /// The end padding that the model asks for; windows may read beyond it when ceil_mode is set.
  Shape modelPadHigh;
};

/// Reads strides, dilations, pads and auto_pad; the input has `spatial` dimensions after the first two.
mlir::FailureOr<Window> windowOf(NodeContext &node, llvm::ArrayRef<int64_t> spatial, llvm::ArrayRef<int64_t> kernel,
                                 bool ceilMode);

/// Low or high padding of a whole tensor: none for batch and channels.
Shape withLeadingZeros(llvm::ArrayRef<int64_t> spatial);

} // namespace autotune
