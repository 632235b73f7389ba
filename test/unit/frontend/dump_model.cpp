// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dump_model MODEL [NAME=1x3x224x224 …] [-o FILE | --time]: prints the imported module, writes it as
// bytecode, or says how long the import took. MODEL may also be ONNX text (.onnxtxt).
#include "frontend/Import.h"
#include "passes/Decompose.h"
#include "passes/SimplifyModel.h"
#include "test/unit/frontend/OnnxText.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <sys/resource.h>

namespace {

struct Arguments {
  std::string model, output;
  bool time = false;
  autotune::ImportOptions options;
};

Arguments parse(int argc, char **argv) {
  Arguments result;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef argument = argv[i];
    auto [name, shape] = argument.rsplit('=');
    if (argument == "-o" && i + 1 < argc) {
      result.output = argv[++i];
    } else if (argument == "--time") {
      result.time = true;
    } else if (result.model.empty()) {
      result.model = argument.str();
    } else {
      llvm::SmallVector<llvm::StringRef> dims;
      if (shape != "scalar")
        shape.split(dims, 'x', -1, /*KeepEmpty=*/false);
      std::vector<int64_t> &sizes = result.options.inputShapes[name];
      for (llvm::StringRef dim : dims)
        if (dim.getAsInteger(10, sizes.emplace_back()))
          sizes.back() = -1;
    }
  }
  return result;
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> import(mlir::MLIRContext &context,
                                                         const Arguments &arguments) {
  if (llvm::sys::path::extension(arguments.model) != ".onnxtxt")
    return autotune::importModel(context, arguments.model, arguments.options);
  llvm::Expected<onnx::ModelProto> model = autotune::test::readOnnxText(arguments.model);
  if (!model)
    return model.takeError();
  auto bytes = llvm::MemoryBuffer::getMemBufferCopy(model->SerializeAsString(), arguments.model);
  return autotune::importModelFromMemory(context, std::move(bytes),
                                         llvm::sys::path::parent_path(arguments.model), arguments.options);
}

int printTimes(mlir::ModuleOp module, std::chrono::steady_clock::time_point start) {
  auto milliseconds = [&] {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  };
  double imported = milliseconds();
  auto main = module.lookupSymbol<mlir::func::FuncOp>("main");
  if (failed(autotune::decomposeIdeas(main)) || failed(autotune::simplifyModel(main)))
    return 1;
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  llvm::outs() << llvm::format("import %.0f ms, with simplification %.0f ms, peak memory %ld MB\n", imported,
                               milliseconds(), usage.ru_maxrss >> 10);
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  Arguments arguments = parse(argc, argv);
  mlir::DialectRegistry registry;
  autotune::registerFrontendDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto start = std::chrono::steady_clock::now();
  auto module = import(context, arguments);
  if (!module) {
    llvm::errs() << "dump_model: " << llvm::toString(module.takeError()) << "\n";
    return 1;
  }
  if (arguments.time)
    return printTimes(**module, start);
  if (arguments.output.empty()) {
    (*module)->print(llvm::outs(), mlir::OpPrintingFlags().elideLargeElementsAttrs(16).useLocalScope());
    return 0;
  }
  std::error_code code;
  llvm::raw_fd_ostream stream(arguments.output, code);
  if (code || failed(mlir::writeBytecodeToFile(**module, stream))) {
    llvm::errs() << "dump_model: cannot write " << arguments.output << "\n";
    return 1;
  }
  return 0;
}
