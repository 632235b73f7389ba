// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Imports bytes as an ONNX model, many times in one process.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace autotune::test {

/// The error, or nothing. No file is read: external data is refused. `visit` sees the module that was
/// imported.
std::string importBytes(llvm::StringRef bytes, llvm::function_ref<void(mlir::ModuleOp)> visit = {});

} // namespace autotune::test
