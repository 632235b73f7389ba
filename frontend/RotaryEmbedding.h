// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rotation of pairs of features by position-dependent angles.
#pragma once

#include "frontend/Emit.h"

namespace autotune {

struct RotaryOptions {
  /// Pairs are neighbours; otherwise feature i pairs with i + half.
  bool interleaved = false;
};

/// Rotates the first 2 * pairs features of a tensor [batch, heads, sequence, size], the others stay. `cosine`
/// and `sine` are [batch, sequence, pairs], where batch may be 1.
mlir::Value rotated(Builder &b, mlir::Value tensor, mlir::Value cosine, mlir::Value sine,
                    RotaryOptions options);

/// Rows of a table [rows, pairs] at integer positions [batch, sequence]; positions outside are clamped.
mlir::Value rowsAtPositions(Builder &b, mlir::Value table, mlir::Value positions);

} // namespace autotune
