// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mean and deviation over axes, shared by all normalisations that compute them from the input.
#pragma once

#include "dialect/Decompose.h"
#include "frontend/Emit.h"

namespace autotune {

struct Standardized {
  mlir::Value normal;
  mlir::Value mean; // null when the input is not centred
  mlir::Value inverseDeviation;
};

/// (x - mean) / sqrt(variance + epsilon) over the axes. Without centring, x / sqrt(mean of squares +
/// epsilon).
Standardized standardized(Builder &b, mlir::Value input, llvm::ArrayRef<int64_t> axes, double epsilon,
                          bool centers = true);

} // namespace autotune
