// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowers transfers of vectors to straight-line code.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace autotune {

/// Transfers of any rank on memrefs become whole-vector loads and stores of the innermost axis where it is contiguous,
/// one load and a broadcast where the map broadcasts, and single elements with static positions elsewhere. Upstream
/// makes loops with dynamic inserts of the last two, which LLVM must unroll to get rid of the stack traffic.
/// Precondition: every transfer is in bounds, as all tiles are static.
void populateLowerTransfersPatterns(mlir::RewritePatternSet &patterns);

} // namespace autotune
