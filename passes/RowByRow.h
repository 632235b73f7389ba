// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise chains over whole register tiles become chains over one row after the other.
#pragma once

#include "mlir/Pass/Pass.h"

#include <memory>

namespace autotune {

/// Where a tile of several rows is stored, what is computed from it elementwise right before (an activation,
/// a bias) is computed and stored row by row. Instructions keep their order down to machine code: op by op
/// over the whole tile, all its intermediate values are alive at once and live on the stack.
///
///     %a = arith.negf %tile : vector<14x32xf32>             for each row, without a loop:
///     %b = math.exp %a : vector<14x32xf32>           ==>      %r = vector.extract %tile[0] : vector<32xf32>
///     vector.transfer_write %b, %buffer[…]                    negf, exp, vector.transfer_write :
///     vector<32xf32>
std::unique_ptr<mlir::Pass> createRowByRowPass();

} // namespace autotune
