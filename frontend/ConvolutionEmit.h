// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The linalg convolution for any rank and grouping; shared by Conv, ConvTranspose and the integer forms.
#pragma once

#include "frontend/Emit.h"

namespace autotune {

struct ConvolutionSpec {
  Shape kernel, strides, dilations, output;  // spatial dimensions
  int64_t batch = 1, channels = 1, filters = 1, groups = 1;
  mlir::Type accumulator;  // element type of the result

  int64_t rank() const { return kernel.size(); }
  bool isDepthwise() const { return groups == channels && groups == filters && groups > 1; }
  /// [filters, channels / groups, kernel…]
  Shape weightShape() const;
  /// [batch, filters, output…]
  Shape outputShape() const;
};

/// Gives the weight, which ONNX has as `weightShape()`, in another shape of the same elements.
using WeightInShape = llvm::function_ref<mlir::Value(llvm::ArrayRef<int64_t>)>;

/// `input` is padded already: [batch, channels, …].
mlir::Value emitConvolution(Builder &b, const ConvolutionSpec &spec, mlir::Value input, WeightInShape weight);

} // namespace autotune
