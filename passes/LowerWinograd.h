// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of convolutions by Winograd's minimal filtering: from tensors straight to loops over buffers.
#pragma once

#include "schedule/LoopNest.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace autotune {

/// True for kernels whose convolution reads its filters through `autotune.winograd_filter`.
bool isWinogradKernel(mlir::func::FuncOp kernel);

/// Replaces the kernel by one over memrefs, with chunk arguments:
///
///     for a block of tiles (loop t before p in `nest`):
///       transform their inputs                          -> V[p, t, k], a temporary
///       for a group of output channel blocks (loop o):
///         for each point p, for rows of tiles:          -> M[p, t, o], a temporary
///           products V[p, t, :] U[p, o, :], accumulated in registers
///         transform M back, compute the elementwise tail, store
///
/// `nest` is one of the workload's that `extractWorkload` gives: loops (p, t, o, v | k). Tiles that reach
/// over the border of the image read its last row or column in place of what is outside, and store what is
/// inside. Fails with a diagnostic for a nest without such loops and for tails that do not work on vectors.
mlir::LogicalResult lowerWinograd(mlir::func::FuncOp kernel, const LoopNest &nest);

} // namespace autotune
