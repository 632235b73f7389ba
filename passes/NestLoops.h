// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loops of a nest over parallel dims, around whatever computes one tile.
#pragma once

#include "schedule/LoopNest.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OpDefinition.h"

namespace autotune {

/// Computes the tile at `offsets` with the static `sizes` and returns `dest` with the tile stored.
using EmitTile = llvm::function_ref<mlir::FailureOr<mlir::Value>(
    mlir::OpBuilder &b, llvm::ArrayRef<mlir::OpFoldResult> offsets, llvm::ArrayRef<int64_t> sizes,
    mlir::Value dest)>;

/// Emits `nest.tiles` over an iteration space of `sizes` and calls `emitTile` in the innermost loop. A step
/// that does not divide an extent gives further calls with smaller tiles. When the nest is parallel, the
/// first loop runs over the chunks between the last two arguments of `kernel`. Returns the updated `dest`.
mlir::FailureOr<mlir::Value> emitNestLoops(mlir::OpBuilder &b, mlir::func::FuncOp kernel,
                                           const LoopNest &nest, llvm::ArrayRef<int64_t> sizes,
                                           mlir::Value dest, EmitTile emitTile);

/// `base + added`, folded when both are constant.
mlir::OpFoldResult addOffset(mlir::OpBuilder &b, mlir::Location loc, mlir::OpFoldResult base,
                             mlir::OpFoldResult added);

} // namespace autotune
