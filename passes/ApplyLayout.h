// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rewrites the operators of a partition into the blocked layouts that it chose.
#pragma once

#include "schedule/Device.h"
#include "schedule/Partition.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace autotune {

/// Rewrites `main` in place as `partition` says, and tags every resulting op with its subgraph (`autotune.subgraph`).
///
/// - Operators of a subgraph with `channelBlock` b compute on NCHW{b}c: tensor<NxCxHxW> becomes
///   tensor<N x ceil(C/b) x H x W x b>, channels beyond C meet zero weights only. Conversions stand only where a blocked value meets a
///   plain operator; they carry no subgraph.
/// - Matrix products with a constant right side read it in panels [N/p, K, p] and write [M, N/p, p], which is the plain
///   [M, N] under another shape when p divides N.
/// - Constants are packed here, at compile time.
/// Convolutions become linalg.generic with loops (n, oh, ow, ob, v | ib, kh, kw, ic): the broadcast dim comes before the
/// planes, which keeps accumulators in registers.
///
/// Precondition: `extractGraph` numbered the operators and the partition is verified against that graph. Fails with a
/// diagnostic at the operator that cannot take its layout.
mlir::LogicalResult applyLayout(mlir::func::FuncOp main, const Partition &partition, const Device &device);

} // namespace autotune
