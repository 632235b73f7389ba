// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The elementwise tail of a kernel on one vector of its root's result.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseMap.h"

namespace autotune {

/// A tensor of a kernel as a part of the buffer that the kernel is given: seen through slices of step 1.
struct BufferPart {
  mlir::BlockArgument argument;
  llvm::SmallVector<int64_t> offsets;

  /// Fails with a diagnostic for values that no argument holds.
  static mlir::FailureOr<BufferPart> of(mlir::Value tensor);
};

/// Emits, over buffers, what elementwise linalg ops compute for `lanes` neighbouring elements along the last
/// loop.
class VectorTail {
public:
  /// `buffers` maps the tensor kernel's arguments to the memrefs that take their place, and scalars that the
  /// tail captures to their clones.
  VectorTail(llvm::ArrayRef<mlir::linalg::GenericOp> tail, const mlir::IRMapping &buffers, int64_t lanes)
      : tail(tail), buffers(buffers), lanes(lanes) {}

  /// The tail's last value where the root's is `root` (a vector) and its loops stand at `indices`. The root's
  /// value itself without a tail. Fails with a diagnostic for ops that do not work on vectors.
  mlir::FailureOr<mlir::Value> emit(mlir::OpBuilder &b, mlir::Value rootTensor, mlir::Value root,
                                    llvm::ArrayRef<mlir::Value> indices) const;

private:
  mlir::FailureOr<mlir::Value> readOperand(mlir::OpBuilder &b, mlir::OpOperand *operand, mlir::AffineMap map,
                                           llvm::ArrayRef<mlir::Value> indices) const;
  mlir::FailureOr<mlir::Value> emitOp(mlir::OpBuilder &b, mlir::linalg::GenericOp op,
                                      llvm::DenseMap<mlir::Value, mlir::Value> &known,
                                      llvm::ArrayRef<mlir::Value> indices) const;

  llvm::ArrayRef<mlir::linalg::GenericOp> tail;
  const mlir::IRMapping &buffers;
  int64_t lanes;
};

} // namespace autotune
