// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From MLIR diagnostics to llvm::Error.
#pragma once

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/Error.h"

#include <string>

namespace autotune {

/// Keeps the first error that the IR reports while it lives, with the ONNX node it belongs to; prints nothing.
class FirstError {
public:
  explicit FirstError(mlir::MLIRContext &context)
      : handler(&context, [this](mlir::Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error || !text.empty())
            return mlir::success();
          if (auto name = mlir::dyn_cast<mlir::NameLoc>(diagnostic.getLocation()))
            text = "node '" + name.getName().str() + "': ";
          text += diagnostic.str();
          return mlir::success();
        }) {}

  /// "stage: first error".
  llvm::Error take(llvm::StringRef stage) const {
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   stage + ": " + (text.empty() ? "failed without a reason" : text));
  }

private:
  std::string text;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace autotune
