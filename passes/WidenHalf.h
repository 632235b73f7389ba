// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Half precision is how tensors are stored outside of a model; inside it computes in single precision.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace autotune {

/// Makes every f16 and bf16 value between the inputs and outputs of `main` f32: inputs are widened as they
/// are read, constants at compile time, and results are rounded once, where they leave:
///
///     %s = conv(f16, f16) -> f32; %h = truncf %s; %y = relu(f16) %h   ==>   %s = conv(f32, f32); %y =
///     relu(f32) %s
///
/// Where the model itself rounds a single-precision value (a Cast), the value is still rounded. Processors
/// without half arithmetic convert at every operation otherwise; the price is twice the memory for weights
/// and activations.
///
/// Leaves a function alone that looks at the bits of its half-precision values.
void widenHalf(mlir::func::FuncOp main);

} // namespace autotune
