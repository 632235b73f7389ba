// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scales and zero points, shared by all quantised operators.
#pragma once

#include "frontend/Emit.h"

namespace autotune {

/// Operand numbers of a scale and its zero point (which may be absent: 0).
struct QuantParameters {
  size_t scale, zeroPoint;
};

/// Scale and zero point are one value, or one for each position of `axis`.
mlir::LogicalResult checkQuantParameters(NodeContext &node, QuantParameters parameters,
                                         llvm::ArrayRef<int64_t> shape, int64_t axis);

/// (x - zero point) * scale as floats of the scale's type.
mlir::Value dequantized(NodeContext &node, size_t index, QuantParameters parameters, int64_t axis);
/// x - zero point as i32.
mlir::Value centered(NodeContext &node, size_t index, size_t zeroPoint, int64_t axis);
/// saturate(round half to even(x / scale) + zero point)
mlir::Value quantized(NodeContext &node, mlir::Value floats, QuantParameters parameters, int64_t axis,
                      ElementType type);
/// A parameter as an operand of an elementwise op over `shape`.
ElementwiseOperand parameterOperand(NodeContext &node, size_t index, int64_t axis, llvm::ArrayRef<int64_t> shape);
/// Rounds half to even, adds the zero point, saturates, converts.
mlir::Value roundedTo(Builder &b, mlir::Value number, mlir::Value zeroPoint, ElementType type);

} // namespace autotune
