// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keeps register tiles in registers: instructions stay in the order in which the kernel computes.
#pragma once

#include "llvm/IR/Function.h"

namespace autotune {

/// Moves each load of a block down to its first use there, unless something in between may write memory. A
/// tile of 14 rows reads 14 numbers for each step of its reduction: read one by one they take one register,
/// read first 14.
void sinkLoads(llvm::Function &function);

/// Turns off LLVM's scheduling before register allocation, for the process. It hoists loads to hide latencies
/// that out-of-order processors hide themselves, and has no measure of what the spills cost: half of the loop
/// of a 14 x 32 tile unrolled by 8 became moves to and from the stack (107 instead of 219 GFLOP/s on Zen 5).
void keepInstructionOrder();

} // namespace autotune
