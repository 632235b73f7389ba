// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of ops that no loop nest is known for: correct rather than fast.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

namespace autotune {

/// Gives every op with several results one clone for each result that is used, so that it is one operator for
/// each value that it makes. Each clone computes all results; such ops are rare and small (an argument of a
/// maximum).
void splitResults(mlir::func::FuncOp main);

/// True for ops that placement turns into views and borders, and for what they are made of.
bool isPlaceable(mlir::Operation *op);

/// Moves `op`, and the scalars, fills and empty tensors that it reads, into a function of its own and calls
/// it:
///
///     %i = scf.for … -> tensor<8xf32>   ==>   %e = tensor.empty
///                                             %i = call @kernel_0(%x, %e)
///
/// What surrounds `op` in @main must be tensors of static shape.
mlir::LogicalResult outlineAsIs(mlir::func::FuncOp main, mlir::Operation *op, llvm::StringRef name);

/// Computed in each kernel that needs it rather than passed: scalars, tensors without data of their own
/// (empty, filled with a number), and filters that stand for their transforms.
bool isRecreated(mlir::Value value);
/// Clones what makes `value`, and what that hangs on, unless `mapping` has it already. A recreated value
/// only.
void recreate(mlir::OpBuilder &b, mlir::Value value, mlir::IRMapping &mapping);

} // namespace autotune
