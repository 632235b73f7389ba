// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes every value of @main live in a buffer that its readers want: halos, concatenations, slices.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace autotune {

/// Rewrites `main` so that only constants, `tensor.empty`, kernel calls, reshapes and the return are left.
///
/// - tensor.pad: the producer writes into the interior of its consumer's padded buffer; a kernel of its own writes the
///   border. Other readers of the value read the interior.
/// - tensor.concat: each producer writes its own place.
/// - tensor.extract_slice: readers read the slice of the whole buffer.
/// Where a producer or reader cannot (a model input, a second padding, a reshape), a copy kernel is added.
///
/// Precondition: `outlineKernels` ran; every call has a kernel of its own. Fails on any other op, named.
mlir::LogicalResult placeBuffers(mlir::func::FuncOp main);

} // namespace autotune
