// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keeps the rows of matrices that are read side by side out of each other's way in the cache.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace autotune {

/// Gives matrices between kernels of `main` rows that are a little further apart in memory, where products
/// and attentions read several rows at once from addresses that are multiples of `kCrowdedPitchBytes` apart:
/// lines at such a distance share few sets of the L1 cache and evict each other.
///
///     %y = call @a(%x, %e)  : … -> tensor<128x1024xf32>          tensor<128x1040xf32>, of which @a writes
///     %z = call @b(%y, …)                                  ==>   and @b reads [0, 0] [128, 1024]
///
/// Values that are seen through reshapes within a row or across rows are widened in all their shapes. Left as
/// they are: inputs and results of `main`, and buffers that are parts of others already.
///
/// Precondition: `placeBuffers` ran.
void spreadRows(mlir::func::FuncOp main);

} // namespace autotune
