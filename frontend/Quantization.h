// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scales and zero points, shared by all quantised operators.
#pragma once

#include "frontend/Emit.h"

namespace autotune {

/// Operand numbers of a scale and its zero point (which may be absent: 0).
struct QuantParameters {
  size_t scale, zeroPoint;
};

inline bool isByte(ElementType type) { return type == ElementType::I8 || type == ElementType::U8; }

/// Scale and zero point are one value, or one for each position of `axis`; the scale is a float.
mlir::LogicalResult checkQuantParameters(NodeContext &node, QuantParameters parameters,
                                         llvm::ArrayRef<int64_t> shape, int64_t axis);
/// The shape in which `count` values, one for each position of `axis`, broadcast to a tensor of `rank`.
Shape alongAxisShape(int64_t count, int64_t axis, int64_t rank);

/// A scale or zero point as an operand of an elementwise op over `shape`; more than one value are seen in the
/// shape `as`, which broadcasts to `shape`.
ElementwiseOperand parameterOperand(NodeContext &node, size_t index, llvm::ArrayRef<int64_t> as,
                                    llvm::ArrayRef<int64_t> shape);

/// (x - zero point) * scale, computed in f32 (f64 with such a scale), as floats of `result`. `x` holds
/// elements of the node's operand 0 or of `type`.
mlir::Value dequantized(NodeContext &node, mlir::Value x, ElementType type, QuantParameters parameters,
                        llvm::ArrayRef<int64_t> as, ElementType result);
/// Operand `index` with one scale and zero point, as f32.
mlir::Value dequantized(NodeContext &node, size_t index, QuantParameters parameters);
/// saturate(round half to even(x / scale) + zero point); `from` is the type of the elements of `x`.
mlir::Value quantized(NodeContext &node, mlir::Value x, ElementType from, QuantParameters parameters,
                      llvm::ArrayRef<int64_t> as, ElementType type);
/// f32 with one scale and zero point.
mlir::Value quantized(NodeContext &node, mlir::Value floats, QuantParameters parameters, ElementType type);
/// x - zero point of known operands as i32; nothing when one is not known.
std::optional<ConstantTensor> centeredConstant(NodeContext &node, size_t index, size_t zeroPoint,
                                               llvm::ArrayRef<int64_t> as);
/// x - zero point as i32: at import when both are known.
mlir::Value centered(NodeContext &node, size_t index, size_t zeroPoint, llvm::ArrayRef<int64_t> as);
/// Rounds half to even, adds the zero point (null: 0), saturates, converts to an integer of at most 16 bits.
mlir::Value roundedTo(Builder &b, mlir::Value number, mlir::Value zeroPoint, ElementType type);

/// The parameters of DynamicQuantizeLinear for f32 data, whose range is widened to include 0.
struct DynamicQuantization {
  mlir::Value scale;     // f32 scalar
  mlir::Value zeroPoint; // u8 scalar
};
DynamicQuantization dynamicQuantization(Builder &b, mlir::Value floats);
mlir::Value dynamicallyQuantized(Builder &b, mlir::Value floats, const DynamicQuantization &parameters);

} // namespace autotune
