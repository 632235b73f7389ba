// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dump_model MODEL [NAME=1x3x224x224 …] [-o FILE]: prints the imported module, or writes it as bytecode.
#include "frontend/Import.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  autotune::ImportOptions options;
  std::string model, output;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef argument = argv[i];
    auto [name, shape] = argument.rsplit('=');
    if (argument == "-o" && i + 1 < argc) {
      output = argv[++i];
    } else if (model.empty()) {
      model = argument.str();
    } else {
      llvm::SmallVector<llvm::StringRef> dims;
      if (shape != "scalar")
        shape.split(dims, 'x', -1, /*KeepEmpty=*/false);
      std::vector<int64_t> &sizes = options.inputShapes[name];
      for (llvm::StringRef dim : dims)
        if (dim.getAsInteger(10, sizes.emplace_back()))
          sizes.back() = -1;
    }
  }
  mlir::DialectRegistry registry;
  autotune::registerFrontendDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = autotune::importModel(context, model, options);
  if (!module) {
    llvm::errs() << "dump_model: " << llvm::toString(module.takeError()) << "\n";
    return 1;
  }
  if (output.empty()) {
    (*module)->print(llvm::outs(), mlir::OpPrintingFlags().elideLargeElementsAttrs(16).useLocalScope());
    return 0;
  }
  std::error_code code;
  llvm::raw_fd_ostream stream(output, code);
  if (code || failed(mlir::writeBytecodeToFile(**module, stream))) {
    llvm::errs() << "dump_model: cannot write " << output << "\n";
    return 1;
  }
  return 0;
}
