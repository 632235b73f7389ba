// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ideas written in linalg.
#pragma once

#include "dialect/Emit.h"

namespace autotune {

/// True for ops that stand for an idea: those of the autotune dialect, and linalg.softmax.
bool isIdea(mlir::Operation *op);
/// The same values in plain linalg, tensor, arith and math ops, one for each result of an idea.
/// linalg.softmax becomes what `softmaxInPieces` gives.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> decomposeIdea(mlir::OpBuilder &builder, mlir::Operation *op);

/// exp(x - max) / sum along `axis`.
mlir::Value softmaxInPieces(Builder &b, mlir::Value input, int64_t axis);

struct Moments {
  mlir::Value centered;         // input - mean; the input itself when the mean is taken as 0
  mlir::Value mean;             // without the axes; null when taken as 0
  mlir::Value inverseDeviation; // 1 / sqrt(variance + epsilon), without the axes
};
/// Statistics along `axes`, in the type of the input.
Moments momentsInPieces(Builder &b, mlir::Value input, llvm::ArrayRef<int64_t> axes, double epsilon,
                        bool rms);

/// An operand that broadcasts to `shape`: constants of one value become numbers, others are reshaped here.
ElementwiseOperand foldedOperand(Builder &b, mlir::Value tensor, llvm::ArrayRef<int64_t> shape);
/// Rows of statistics, read along the loops that are not folded.
ElementwiseOperand alongKept(Builder &b, mlir::Value rows, llvm::ArrayRef<int64_t> folded, size_t rank);

} // namespace autotune
