// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From vectorised tensors to the LLVM dialect, with the C entry point of a kernel.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace autotune {

/// Bufferises the one kernel of `module` in place and lowers it to the LLVM dialect.
///
/// Precondition: a tiled kernel `(tensors…, dest, begin: index, end: index)`. Result: an LLVM function
/// `void kernel(ptr args, i64 begin, i64 end)` where `args` is an array of the buffers' addresses, in
/// argument order. Temporaries of up to 256 KiB live on the stack, what is beyond on the heap while the
/// kernel runs: `scratchBytes` receives how much that is.
mlir::LogicalResult lowerKernelToLlvm(mlir::ModuleOp module, int64_t *scratchBytes = nullptr);

} // namespace autotune
