// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What other families use of BatchNormalization and Softmax.
#pragma once

#include "frontend/Emit.h"

namespace autotune {

struct ScaleShift {
  std::vector<double> scale, shift;
};

/// y = x * scale + shift for each channel, when the node is in inference form with known parameters.
std::optional<ScaleShift> constantScaleShift(NodeContext &batchNorm, int64_t channels);

/// Softmax along `axis`. When it coerces (before opset 13), the operand is seen as a matrix: the dimensions before
/// `axis`, and those from it on.
mlir::Value softmaxed(Builder &b, mlir::Value input, int64_t axis, bool coerces, bool logarithm);

} // namespace autotune
