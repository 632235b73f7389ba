// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of @main re-pointed at parts of larger buffers.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"

namespace autotune {

/// A rectangular part of a larger tensor.
struct Slice {
  llvm::SmallVector<mlir::OpFoldResult> offsets, sizes, strides;

  /// Neighbouring elements from `offsets` on.
  static Slice at(mlir::OpBuilder &b, llvm::ArrayRef<int64_t> offsets, llvm::ArrayRef<int64_t> sizes);
};

/// Changes calls of @main together with their kernels, of which each has one call.
class CallSlices {
public:
  explicit CallSlices(mlir::func::FuncOp main);

  mlir::func::FuncOp kernelOf(mlir::func::CallOp call) const;
  mlir::SymbolTable &symbolTable() { return symbols; }

  /// The call that makes `value` in a buffer of its own, whose placement is still free; null for other
  /// values.
  static mlir::func::CallOp freeProducer(mlir::Value value);

  /// The kernel reads argument `index` as `slice` of the larger `whole`.
  void readSlice(mlir::func::CallOp call, unsigned index, mlir::Value whole, const Slice &slice);
  /// The kernel writes its result into `slice` of `whole`; returns the updated whole.
  mlir::Value writeSlice(mlir::func::CallOp call, mlir::Value whole, const Slice &slice);

private:
  mlir::Value sliceArgument(mlir::func::FuncOp kernel, unsigned index, mlir::Type type, const Slice &slice);

  mlir::SymbolTable symbols;
};

} // namespace autotune
