// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads between the elements of a tensor at coordinates that are computed at run time.
#pragma once

#include "frontend/Emit.h"

namespace autotune::sampling {

enum class Padding { Zeros, Border, Reflection };

/// One element that takes part along one dimension. Positions are always inside the dimension.
struct Tap {
  mlir::Value position; // index
  mlir::Value weight;   // null: 1
  mlir::Value inside;   // i1; null: true. Where it is false the element counts as 0
};
using Taps = llvm::SmallVector<Tap, 4>;

/// How a dimension of `size` elements is continued.
struct Axis {
  int64_t size;
  Padding padding = Padding::Zeros;
  bool alignCorners = false; // reflection is about the centre of the outermost elements, not about their edge
};

/// Coordinates beyond the border, before the elements around them are looked for: clamped, or reflected.
mlir::Value paddedCoordinate(Builder &b, const Axis &axis, mlir::Value x);
/// The element nearest to x: ties to even, or away from zero.
Taps nearest(Builder &b, const Axis &axis, mlir::Value x, bool tiesToEven);
Taps linear(Builder &b, const Axis &axis, mlir::Value x);
/// Keys' cubic convolution with the coefficient -0.75.
Taps cubic(Builder &b, const Axis &axis, mlir::Value x);

/// The weighted sum over all combinations of taps, in `accumulator`; elements of other float types are
/// converted.
mlir::Value weightedSum(Builder &b, mlir::Value tensor, llvm::ArrayRef<mlir::Value> leading,
                        llvm::ArrayRef<Taps> taps, mlir::Type accumulator);

/// A float as an i64 that is at most 2^30 away from 0; NaN gives -2^30.
mlir::Value boundedInteger(Builder &b, mlir::Value x);
/// x limited to [low, high]; NaN gives `low`.
mlir::Value limited(Builder &b, mlir::Value x, double low, double high);

} // namespace autotune::sampling
