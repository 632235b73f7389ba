// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Applies a loop nest to a kernel: static tiles, fused producers, reduction loops.
#pragma once

#include "schedule/LoopNest.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace autotune {

/// Rewrites the body of `kernel` into the loops of `nest`.
///
/// Before: `func @k(inputs…, dest) -> dest` whose returned value is the last linalg op (possibly inserted into the
/// interior of `dest`), with a root and its fused tail as separate linalg ops on whole tensors.
/// After: `func @k(inputs…, dest, begin: index, end: index)`, every linalg op on one static register tile. A step that
/// does not divide an extent gives a second, smaller static tile; there are no dynamic sizes. Chunks [begin, end) of
/// the first loop are computed when the nest is parallel; otherwise the only chunk is 0 and both are ignored.
///
/// Fails with a diagnostic at the kernel when the nest does not fit.
mlir::LogicalResult tileToNest(mlir::func::FuncOp kernel, const LoopNest &nest);

/// True if every linalg op of the kernel can be part of a nest.
bool canBeTiled(mlir::func::FuncOp kernel);

/// The nest of the reference that candidates are checked against: one row of the last parallel dim at a time, every
/// reduction in order, nothing blocked. Nothing for kernels whose result no tileable op computes (borders).
std::optional<LoopNest> plainNest(mlir::func::FuncOp kernel);

/// Gives a kernel that has no loops to choose the signature of one that has: (…, dest, begin, end), both ignored.
void addChunkArguments(mlir::func::FuncOp kernel);

} // namespace autotune
