// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The few shapes of IR that ideas are made of: fills, broadcasting elementwise ops, reductions, reshapes.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <optional>
#include <string>

namespace autotune {

using Builder = mlir::ImplicitLocOpBuilder;
using Shape = llvm::SmallVector<int64_t, 6>;

mlir::Value emptyTensor(Builder &b, llvm::ArrayRef<int64_t> shape, mlir::Type element);
/// `arith.constant` of an integer or float type.
mlir::Value scalarConstant(Builder &b, mlir::Type type, double value);
/// `linalg.fill` of a new tensor.
mlir::Value filledTensor(Builder &b, llvm::ArrayRef<int64_t> shape, mlir::Value scalar);
mlir::Value zeroTensor(Builder &b, llvm::ArrayRef<int64_t> shape, mlir::Type element);

llvm::ArrayRef<int64_t> shapeOf(mlir::Value tensor);
mlir::Type elementOf(mlir::Value tensor);

/// Collapses to the finest common grouping of dimensions, then expands. Element counts agree.
mlir::Value reshapeTo(Builder &b, mlir::Value tensor, llvm::ArrayRef<int64_t> shape);
mlir::Value transposed(Builder &b, mlir::Value tensor, llvm::ArrayRef<int64_t> permutation);
/// `tensor.pad` with a constant; the tensor itself when nothing is added.
mlir::Value padded(Builder &b, mlir::Value tensor, llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high,
                   double value);
mlir::Value sliceOf(Builder &b, mlir::Value tensor, llvm::ArrayRef<int64_t> offset,
                    llvm::ArrayRef<int64_t> size, llvm::ArrayRef<int64_t> step);

/// An operand of an elementwise op: a tensor read through a projected permutation of the loops, or one
/// number.
struct ElementwiseOperand {
  mlir::Value tensor;
  mlir::AffineMap map;
  mlir::TypedAttr number; // set: a constant of the region, no tensor
};

/// Multidirectional broadcasting; nothing when the shapes do not agree.
std::optional<Shape> broadcastShape(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);
/// How an operand is read: its shape without the dimensions that are broadcast, and the loops of the others.
struct Broadcast {
  Shape kept;
  mlir::AffineMap map;
};
/// `operand` broadcasts to `shape`.
Broadcast broadcastOf(Builder &b, llvm::ArrayRef<int64_t> operand, llvm::ArrayRef<int64_t> shape);
/// Aligns at the last dimension; unit dimensions that are broadcast are collapsed.
ElementwiseOperand broadcastOperand(Builder &b, mlir::Value tensor, llvm::ArrayRef<int64_t> shape);
/// A tensor with one value for each position of loop `axis`.
ElementwiseOperand alongAxis(Builder &b, mlir::Value vector, int64_t axis, int64_t rank);
ElementwiseOperand numberOperand(Builder &b, mlir::Type type, double value);

using ScalarBody = llvm::function_ref<mlir::Value(Builder &, mlir::ValueRange)>;

/// One parallel `linalg.generic` over `shape` with an identity output map.
mlir::Value elementwise(Builder &b, llvm::ArrayRef<int64_t> shape, mlir::Type element,
                        llvm::ArrayRef<ElementwiseOperand> operands, ScalarBody body);

/// One `linalg.generic` that folds the given axes with `combine(element, accumulator)`; those dimensions
/// disappear.
mlir::Value reduced(Builder &b, mlir::Value tensor, llvm::ArrayRef<int64_t> axes, mlir::Value init,
                    ScalarBody combine);
/// `shape` without `axes`, or with 1 in their place.
Shape reducedShape(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> axes, bool keepDims);

/// A generic whose body computes each element from its indices (`linalg.index` values).
mlir::Value computedByIndex(Builder &b, llvm::ArrayRef<int64_t> shape, mlir::Type element, ScalarBody body);

/// Converts elements between float types; the tensor itself when nothing changes.
mlir::Value floatCast(Builder &b, mlir::Value tensor, mlir::Type element);
/// f32 for the 16-bit floats, in which sums lose too much; otherwise the type itself.
mlir::Type accumulatorType(mlir::Type element);

std::string shapeText(llvm::ArrayRef<int64_t> shape);

} // namespace autotune
