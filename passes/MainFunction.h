// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The function that graph passes work on.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace autotune {

/// @main of a model; null, with a diagnostic, when there is none.
inline mlir::func::FuncOp findMain(mlir::ModuleOp module) {
  auto main = module.lookupSymbol<mlir::func::FuncOp>("main");
  if (!main || main.isExternal()) {
    module.emitError("expected a function @main with a body");
    return nullptr;
  }
  return main;
}

} // namespace autotune
