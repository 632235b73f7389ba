// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Imports bytes in a context that is renewed now and then.
#include "test/fuzz/ImportBytes.h"

#include "frontend/Import.h"

#include "mlir/IR/MLIRContext.h"

namespace autotune::test {

namespace {

/// Types, attributes and locations stay in their context for ever: a few hundred imports may share one.
mlir::MLIRContext &freshContext() {
  constexpr unsigned kImportsPerContext = 256;
  static std::unique_ptr<mlir::MLIRContext> context;
  static unsigned imports = 0;
  if (imports++ % kImportsPerContext == 0) {
    mlir::DialectRegistry registry;
    registerFrontendDialects(registry);
    context = std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
  }
  return *context;
}

} // namespace

std::string importBytes(llvm::StringRef bytes, llvm::function_ref<void(mlir::ModuleOp)> visit) {
  auto module =
      importModelFromMemory(freshContext(), llvm::MemoryBuffer::getMemBufferCopy(bytes, "fuzz.onnx"),
                            /*folder=*/"", ImportOptions());
  if (!module)
    return llvm::toString(module.takeError());
  if (visit)
    visit(**module);
  return {};
}

} // namespace autotune::test
