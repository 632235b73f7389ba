// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packs constants into their final layout at compile time.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"

namespace autotune {

/// One axis of a packed constant: its index, times `multiplier`, is added to the index along `sourceAxis`.
struct PackedAxis {
  int64_t sourceAxis;
  int64_t extent;
  int64_t multiplier = 1;
};

/// The constant of shape [axes[0].extent, …] gathered from `source`; zero where an index leaves the source.
/// Weights [O, I, KH, KW] in blocks of b: {0,O/b,b} {1,I/b,b} {2,KH} {3,KW} {1,b} {0,b}.
mlir::DenseElementsAttr packConstant(mlir::DenseElementsAttr source, llvm::ArrayRef<PackedAxis> axes);

} // namespace autotune
