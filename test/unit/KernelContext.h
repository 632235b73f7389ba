// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MLIR contexts and modules of tests.
#pragma once

#include "passes/Dialects.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <memory>
#include <string>

namespace autotune::test {

/// A context that can hold kernels and models.
inline std::unique_ptr<mlir::MLIRContext> makeContext() {
  mlir::DialectRegistry registry;
  registerKernelDialects(registry);
  auto context = std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

/// `text` as a module; fails the test when it does not parse.
inline mlir::OwningOpRef<mlir::ModuleOp> parseModule(mlir::MLIRContext &context, const std::string &text) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    ADD_FAILURE() << "the module does not parse";
  return module;
}

} // namespace autotune::test
