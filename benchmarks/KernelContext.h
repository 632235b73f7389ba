// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A context that can hold models and kernels.
#pragma once

#include "frontend/Import.h"
#include "passes/Dialects.h"

#include "mlir/IR/MLIRContext.h"

namespace autotune::benchmarks {

inline void loadKernelDialects(mlir::MLIRContext &context) {
  mlir::DialectRegistry registry;
  registerFrontendDialects(registry);
  registerKernelDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
}

} // namespace autotune::benchmarks
