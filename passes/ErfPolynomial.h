// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The error function in f32, without branches and divisions.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace autotune {

/// Replaces `math.erf` of f32 and vectors of it, within 2.5 units in the last place. Takes precedence over
/// upstream's pattern, which chooses each coefficient of a quotient lane by lane and takes three times as
/// long.
void populateErfPolynomialPatterns(mlir::RewritePatternSet &patterns);

} // namespace autotune
