// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gathers from memrefs: one vector axis at a time, and loads for each lane where the processor has no instruction.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace autotune {

/// Upstream's vectoriser writes `vector.gather` with linear indices over the *shape* of its source. A rank-one gather of
/// 32- or 64-bit elements from a contiguous memref stays and becomes one instruction. Gathers of higher rank are unrolled
/// along their leading axis; others become one load for each lane, at the index taken apart by the source's shape.
/// Precondition: masks are constant and all true, as the vectoriser makes them for static shapes.
void populateLowerGathersPatterns(mlir::RewritePatternSet &patterns);

} // namespace autotune
