// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scalar arithmetic that picks the float, signed or unsigned op of the arith dialect by ONNX element type.
#pragma once

#include "frontend/Emit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace autotune::scalar {

using mlir::Value;

Value add(Builder &b, Value x, Value y);
Value sub(Builder &b, Value x, Value y);
Value mul(Builder &b, Value x, Value y);
/// Integers: towards zero; a zero divisor gives an unspecified value instead of a trap.
Value div(Builder &b, ElementType type, Value x, Value y);
/// C's remainder (floats: fmod).
Value rem(Builder &b, ElementType type, Value x, Value y);
/// The sign follows the divisor, as in Python.
Value floorMod(Builder &b, ElementType type, Value x, Value y);
/// Floats: NaN if either is.
Value max(Builder &b, ElementType type, Value x, Value y);
Value min(Builder &b, ElementType type, Value x, Value y);
Value abs(Builder &b, ElementType type, Value x);
Value negate(Builder &b, Value x);

enum class Relation { Equal, Less, LessOrEqual, Greater, GreaterOrEqual };
/// Ordered comparison: false when a float operand is NaN.
Value compare(Builder &b, Relation relation, ElementType type, Value x, Value y);

/// ONNX Cast of one element.
Value cast(Builder &b, Value x, ElementType from, ElementType to);
/// A number of the type of `like`.
Value constantLike(Builder &b, Value like, double value);

/// 1 / (1 + exp(-x))
Value sigmoid(Builder &b, Value x);
/// x / 2 * (1 + erf(x / sqrt(2)))
Value gelu(Builder &b, Value x);
/// x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))
Value tanhGelu(Builder &b, Value x);

/// The least and greatest values, with infinities for floats.
mlir::TypedAttr lowest(Builder &b, mlir::Type type, ElementType element);
mlir::TypedAttr highest(Builder &b, mlir::Type type, ElementType element);

} // namespace autotune::scalar

namespace autotune {

/// ONNX Cast of a whole tensor.
mlir::Value casted(Builder &b, mlir::Value tensor, ElementType from, ElementType to);

} // namespace autotune
