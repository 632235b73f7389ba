// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parsing and checking of models that are MLIR already.
#include "frontend/MlirInput.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"

namespace autotune {

namespace {

llvm::Error error(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), "%s", message.str().c_str());
}

llvm::Error checkTypes(mlir::TypeRange types, llvm::StringRef what) {
  for (auto [index, type] : llvm::enumerate(types)) {
    auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
    if (tensor && tensor.hasStaticShape() && tensor.getElementType().isIntOrFloat())
      continue;
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return error(what + " " + llvm::Twine(index) + " of @main is " + text +
                 ", expected a static ranked tensor of integers or floats");
  }
  return llvm::Error::success();
}

/// Names are what tensor folders and --input refer to, so each argument and result has one.
void addMissingNames(mlir::func::FuncOp function) {
  mlir::Builder builder(function.getContext());
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (!function.getArgAttr(i, "autotune.name"))
      function.setArgAttr(i, "autotune.name", builder.getStringAttr("arg" + llvm::Twine(i)));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (!function.getResultAttr(i, "autotune.name"))
      function.setResultAttr(i, "autotune.name", builder.getStringAttr("result" + llvm::Twine(i)));
}

llvm::Error checkShapes(mlir::func::FuncOp function, const ImportOptions &options) {
  for (const auto &entry : options.inputShapes) {
    bool found = false;
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      if (function.getArgAttrOfType<mlir::StringAttr>(i, "autotune.name") != entry.getKey())
        continue;
      found = true;
      auto type = mlir::cast<mlir::RankedTensorType>(function.getArgumentTypes()[i]);
      if (type.getShape() != llvm::ArrayRef<int64_t>(entry.second))
        return error("input '" + entry.getKey() + "' has another shape than the given one");
    }
    if (!found)
      return error("no input is named '" + entry.getKey() + "'");
  }
  return llvm::Error::success();
}

} // namespace

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> importMlir(mlir::MLIRContext &context,
                                                             const llvm::MemoryBuffer &buffer,
                                                             const ImportOptions &options) {
  std::string diagnostic;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &d) {
    if (!diagnostic.empty())
      return mlir::success();
    llvm::raw_string_ostream stream(diagnostic);
    if (auto location = mlir::dyn_cast<mlir::FileLineColLoc>(d.getLocation()))
      stream << "line " << location.getLine() << ": ";
    stream << d.str();
    return mlir::success();
  });
  auto source = std::make_shared<llvm::SourceMgr>();
  source->AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(buffer.getMemBufferRef()), llvm::SMLoc());
  mlir::ParserConfig config(&context, /*verifyAfterParse=*/true);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceFile<mlir::ModuleOp>(source, config);
  if (!module)
    return error(diagnostic.empty() ? "not valid MLIR" : diagnostic);
  auto function = module->lookupSymbol<mlir::func::FuncOp>("main");
  if (!function || function.isDeclaration())
    return error("holds no function @main with a body");
  if (llvm::Error failure = checkTypes(function.getArgumentTypes(), "argument"))
    return failure;
  if (llvm::Error failure = checkTypes(function.getResultTypes(), "result"))
    return failure;
  if (!options.inputValues.empty())
    return error("input '" + options.inputValues.begin()->getKey() +
                 "': the value of an input can be fixed in ONNX models only");
  addMissingNames(function);
  if (llvm::Error failure = checkShapes(function, options))
    return failure;
  return module;
}

} // namespace autotune
