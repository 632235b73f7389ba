// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops and vectors written by hand: what kernels of whole ideas are made of.
#pragma once

#include "dialect/Emit.h"

namespace autotune {

/// Positions in a tensor or a buffer.
using Indices = llvm::SmallVector<mlir::Value>;

mlir::Value constantIndex(Builder &b, int64_t value);
/// `base + added`.
mlir::Value plus(Builder &b, mlir::Value base, int64_t added);
mlir::VectorType vectorOf(Builder &b, int64_t lanes);
/// A vector of f32 with one value in every lane.
mlir::Value splat(Builder &b, int64_t lanes, double value);

/// `lanes` f32 elements along the last axis, all of them inside `tensor`.
mlir::Value readVector(Builder &b, mlir::Value tensor, mlir::ValueRange indices, int64_t lanes);
/// `tensor` with `vector` stored along its last axis.
mlir::Value writeVector(Builder &b, mlir::Value vector, mlir::Value tensor, mlir::ValueRange indices);

using LoopBody = llvm::function_ref<Indices(Builder &b, mlir::Value index, mlir::ValueRange carried)>;
/// `for (index = from; index < to; index += step)`; the body returns what it carries on. Returns what is
/// carried in the end.
Indices loopOver(Builder &b, mlir::Value from, mlir::Value to, int64_t step, mlir::ValueRange carried,
                 LoopBody body);
/// The same between constants.
Indices loopOver(Builder &b, int64_t from, int64_t to, int64_t step, mlir::ValueRange carried, LoopBody body);

/// Rows of a square become its columns: as many vectors as each has lanes, a power of two.
llvm::SmallVector<mlir::Value> transposedSquare(Builder &b, llvm::ArrayRef<mlir::Value> rows);

} // namespace autotune
