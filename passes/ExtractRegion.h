// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cuts some operators out of a model so that their layouts can be compiled and timed by themselves.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/ArrayRef.h"

namespace autotune {

/// A module whose @main holds copies of the operators `ids` of `main` (numbered by `extractGraph`; ids are kept, so a
/// partition of the model restricted to them applies), with the constants and inits that they use. Its arguments are
/// the computed values that the region reads, its results the values that are used outside, both in order of first
/// mention and in plain layout: conversions at the region's borders are part of what is timed.
mlir::OwningOpRef<mlir::ModuleOp> extractRegion(mlir::func::FuncOp main, llvm::ArrayRef<int> ids);

} // namespace autotune
