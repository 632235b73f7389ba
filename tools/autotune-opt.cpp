// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `autotune-opt`: runs the project's passes and MLIR's simplifications on IR text; what the .mlir tests call.
#include "frontend/Import.h"
#include "passes/Dialects.h"
#include "passes/Passes.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  autotune::registerFrontendDialects(registry);
  autotune::registerKernelDialects(registry);
  autotune::registerAutotunePasses();
  mlir::registerTransformsPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "autotune's optimizer driver\n", registry));
}
