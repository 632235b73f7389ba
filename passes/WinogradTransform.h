// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The transforms of F(m x m, 3 x 3) as straight-line code on vectors of channels.
#pragma once

#include "mlir/IR/Builders.h"

namespace autotune {

/// Emits the load of one vector of a tile.
using ReadPoint = llvm::function_ref<mlir::Value(int64_t row, int64_t column)>;
/// Told of the finished vectors of one column, from the first row to the last.
using WriteColumn = llvm::function_ref<void(int64_t column, llvm::ArrayRef<mlir::Value> rows)>;

/// B^T d B of the (m + 2) x (m + 2) inputs of a tile, m = `outputs`. Vectors are read just before they are
/// needed: what is alive does not fit the registers anyway.
void transformInputs(mlir::OpBuilder &b, mlir::Location loc, int64_t outputs, ReadPoint read,
                     WriteColumn write);

/// A^T p A: the m x m outputs of a tile, from its (m + 2) x (m + 2) products.
void transformProducts(mlir::OpBuilder &b, mlir::Location loc, int64_t outputs, ReadPoint read,
                       WriteColumn write);

} // namespace autotune
