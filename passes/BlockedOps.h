// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each operator that can compute on blocked channels, written as a linalg.generic on blocked tensors.
#pragma once

#include "passes/BlockedValue.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace autotune {

/// All take operands from `values` (converting where needed) and return the op whose result is the blocked
/// result.

/// Loops (n, oh, ow, ob, v | ib, kh, kw, ic). An input with fewer channels than a block, and not blocked yet,
/// is read plain: (n, oh, ow, ob, v | c, kh, kw). With `winogradOutputs` = m > 0 the filters are those of an
/// `autotune.winograd_filter` for m x m outputs; the input has at least a block of channels then, and the op
/// passes `canFilterMinimally`.
mlir::linalg::GenericOp blockConv2d(mlir::OpBuilder &b, mlir::linalg::Conv2DNchwFchwOp op,
                                    BlockedValues &values, int64_t block, int64_t winogradOutputs);
/// Loops (n, cb, oh, ow, v | kh, kw).
mlir::linalg::GenericOp blockDepthwise(mlir::OpBuilder &b, mlir::linalg::DepthwiseConv2DNchwChwOp op,
                                       BlockedValues &values, int64_t block);
/// Loops (n, cb, oh, ow, v | kh, kw), for pooling_nchw_max and pooling_nchw_sum.
mlir::linalg::GenericOp blockPooling(mlir::OpBuilder &b, mlir::linalg::LinalgOp op, BlockedValues &values,
                                     int64_t block);
/// Any generic whose operand maps keep the split axis whole: (.., c, ..) becomes (.., co, .., ci) in loops
/// and maps. Serves elementwise tails and the mean over space.
mlir::linalg::GenericOp blockGeneric(mlir::OpBuilder &b, mlir::linalg::GenericOp op, BlockedValues &values,
                                     ChannelSplit split);
mlir::tensor::PadOp blockPad(mlir::OpBuilder &b, mlir::tensor::PadOp op, BlockedValues &values,
                             int64_t block);
/// [M, K] x constant [K, N] in panels: loops (m, nb, v | k), result [M, N/p, p].
mlir::linalg::GenericOp blockMatmul(mlir::OpBuilder &b, mlir::linalg::MatmulOp op, int64_t panel);

} // namespace autotune
