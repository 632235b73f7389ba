// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MLIR text or bytecode as a model.
#pragma once

#include "frontend/Import.h"

#include "llvm/Support/MemoryBuffer.h"

namespace autotune {

/// Parses and verifies; the module must hold `func.func @main` on static ranked tensors. Arguments and results without
/// a name get `arg<i>` and `result<i>`. Errors are without the file's name.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> importMlir(mlir::MLIRContext &context,
                                                             const llvm::MemoryBuffer &buffer,
                                                             const ImportOptions &options);

} // namespace autotune
