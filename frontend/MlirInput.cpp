// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parsing and checking of models that are MLIR already.
#include "frontend/MlirInput.h"

#include "frontend/ImportContext.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"

namespace autotune {

namespace {

llvm::Error error(const llvm::Twine &message) {
  return llvm::createStringError(message);
}

bool isIndexOrNumber(mlir::Type type) { return type.isIndex() || type.isIntOrFloat(); }

bool isStaticTensor(mlir::Type type) {
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && isIndexOrNumber(tensor.getElementType());
}

llvm::Error checkTypes(mlir::TypeRange types, llvm::StringRef what) {
  for (auto [index, type] : llvm::enumerate(types)) {
    if (isStaticTensor(type) && !mlir::cast<mlir::RankedTensorType>(type).getElementType().isIndex())
      continue;
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return error(what + " " + llvm::Twine(index) + " of @main is " + text +
                 ", expected a static ranked tensor of integers or floats");
  }
  return llvm::Error::success();
}

/// What later passes understand: autotune, linalg, tensor, arith and math, with scf where the flow of control depends
/// on data.
bool isSupported(mlir::Operation *op) {
  llvm::StringRef dialect = op->getName().getDialectNamespace();
  return llvm::is_contained({"arith", "autotune", "linalg", "math", "scf", "tensor"}, dialect) ||
         mlir::isa<mlir::func::ReturnOp>(op);
}

std::string position(mlir::Operation *op) {
  auto location = mlir::dyn_cast<mlir::FileLineColLoc>(op->getLoc());
  return location ? "line " + std::to_string(location.getLine()) + ": " : std::string();
}

/// The first op that is not of the supported dialects or not on static tensors and numbers; and how many
/// there are.
llvm::Error checkOperations(mlir::func::FuncOp function) {
  std::string first;
  size_t count = 0;
  int64_t bytes = 0;
  auto refuse = [&](mlir::Operation *op, const llvm::Twine &why) {
    if (count++ == 0)
      first = (position(op) + "'" + op->getName().getStringRef() + "' " + why).str();
  };
  function.walk([&](mlir::Operation *op) {
    if (op == function)
      return;
    if (!isSupported(op))
      return refuse(op, "is not supported, expected linalg, tensor, arith or math");
    for (mlir::Type type : op->getResultTypes()) {
      if (!isIndexOrNumber(type) && !isStaticTensor(type)) {
        std::string text;
        llvm::raw_string_ostream(text) << type;
        return refuse(op, "gives " + text + ", expected a static tensor or a number");
      }
      auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
      std::optional<int64_t> size =
          tensor ? checkedByteCount(tensor.getShape(), fromMlirType(tensor.getElementType()))
                 : std::optional<int64_t>(0);
      if (!size)
        return refuse(op, "gives a tensor larger than " + llvm::Twine(kMaxTensorBytes) + " bytes");
      bytes += mlir::isa<mlir::tensor::EmptyOp>(op) ? 0 : *size;
    }
  });
  if (count > 0)
    return error(first + (count > 1 ? " (and " + std::to_string(count - 1) + " more)" : std::string()));
  if (int64_t limit = ImportLimits().runtimeBytes; bytes > limit)
    return error("the values of @main need " + llvm::Twine(bytes) + " bytes, supported are " +
                 llvm::Twine(limit));
  if (!llvm::hasSingleElement(function.getBody()))
    return error("@main has several blocks, expected one");
  return llvm::Error::success();
}

/// MLIR's parser calls itself for each bracket: a file may not make it use up the stack.
llvm::Error checkNesting(llvm::StringRef text) {
  constexpr int64_t kDeepest = 256;
  int64_t depth = 0;
  char previous = 0;
  for (char c : text) {
    if (c == '(' || c == '[' || c == '{' || c == '<')
      ++depth;
    else if ((c == ')' || c == ']' || c == '}' || (c == '>' && previous != '-')) && depth > 0)
      --depth;
    if (depth > kDeepest)
      return error("brackets are nested more than " + llvm::Twine(kDeepest) + " deep");
    previous = c;
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

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importMlir(mlir::MLIRContext &context, const llvm::MemoryBuffer &buffer, const ImportOptions &options) {
  if (!buffer.getBuffer().starts_with("ML\xefR"))
    if (llvm::Error failure = checkNesting(buffer.getBuffer()))
      return failure;
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
  for (mlir::Operation &op : *module->getBody())
    if (&op != function)
      return error(position(&op) + "'" + op.getName().getStringRef() +
                   "' beside @main, expected nothing else");
  if (llvm::Error failure = checkTypes(function.getArgumentTypes(), "argument"))
    return failure;
  if (llvm::Error failure = checkTypes(function.getResultTypes(), "result"))
    return failure;
  if (!options.inputValues.empty())
    return error("input '" + options.inputValues.begin()->getKey() +
                 "': the value of an input can be fixed in ONNX models only");
  if (llvm::Error failure = checkOperations(function))
    return failure;
  addMissingNames(function);
  if (llvm::Error failure = checkShapes(function, options))
    return failure;
  return module;
}

} // namespace autotune
