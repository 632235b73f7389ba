// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dialects and interface models that kernels need from linalg down to LLVM.
#pragma once

namespace mlir {
class DialectRegistry;
}

namespace autotune {

/// Registers every dialect that a kernel passes through, with tiling, subset and bufferisation models, and the
/// translation of the LLVM dialect.
void registerKernelDialects(mlir::DialectRegistry &registry);

} // namespace autotune
