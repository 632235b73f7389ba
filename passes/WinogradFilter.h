// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Filters of a 3x3 convolution transformed for Winograd's minimal filtering, at compile time.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace autotune {

/// True for 3x3 convolutions of stride 1 and dilation 1 over f32 with constant filters, summed from zero,
/// that give more than a few rows and columns of outputs: what F(m x m, 3 x 3) can compute and may gain on.
/// Filters whose taps cancel (Sobel, Laplace) are left out: on smooth images too little of the result is not
/// rounding.
bool canFilterMinimally(mlir::linalg::Conv2DNchwFchwOp conv);

/// G g G^T of every filter: [O, I, 3, 3] becomes [ceil(O / block), (m + 2)^2, I rounded up to blocks, block],
/// zero where channels are padded. Computed in double and rounded once.
mlir::DenseElementsAttr transformFilters(mlir::DenseElementsAttr filters, int64_t outputs, int64_t block);

} // namespace autotune
