// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The i32 matrix product of quantised operands, shared by the forms that differ in what follows.
#pragma once

#include "frontend/Emit.h"

namespace autotune {

inline constexpr size_t kNoOperand = ~size_t(0);

/// Operand numbers. The zero points may be absent from the node; the scales are `kNoOperand` where there are
/// none.
struct IntegerOperands {
  size_t left, right, leftZero, rightZero;
  size_t leftScale = kNoOperand, rightScale = kNoOperand;
};

/// Operand numbers of the scales and the shapes in which they broadcast to the product.
struct ContractionScales {
  size_t left, right;
  Shape leftAs, rightAs;
};

struct IntegerProduct {
  mlir::Value sums; // i32
  ContractionScales scales;
};

/// The shape in which a scale or zero point of a matrix operand broadcasts to that operand: one value; one
/// for each row (on the left) or column; or a tensor like the operand with 1 in place of the summed
/// dimension.
mlir::FailureOr<Shape> matrixParameterShape(NodeContext &node, size_t index, size_t operand, bool isLeft);

/// The sums of (left - zero) * (right - zero). Parameters are one value, or one for each row of the left or
/// column of the right side.
mlir::FailureOr<IntegerProduct> integerProduct(NodeContext &node, const IntegerOperands &operands);

} // namespace autotune
