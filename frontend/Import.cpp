// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a file to a verified module: reads, binds the inputs, imports the graph, removes what nobody reads.
#include "frontend/Import.h"

#include "dialect/AutotuneDialect.h"
#include "frontend/Emit.h"
#include "frontend/ImportContext.h"
#include "frontend/InputValue.h"
#include "frontend/MlirInput.h"
#include "frontend/OnnxModel.h"
#include "frontend/OnnxProto.h"
#include "frontend/SequenceInputs.h"
#include "frontend/SplitModel.h"
#include "frontend/TensorProto.h"
#include "frontend/UnsupportedOperators.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

namespace autotune {

namespace {

llvm::Error error(const llvm::Twine &message) {
  return llvm::createStringError(message);
}

/// `text` as one line of readable length: names in a file may hold anything.
std::string oneLine(llvm::StringRef text) {
  constexpr size_t kLongest = 4000;
  std::string line = text.take_front(kLongest).str();
  for (char &c : line)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f)
      c = ' ';
  if (!llvm::json::isUTF8(line))
    line = llvm::json::fixUTF8(line);
  return line + (text.size() > kLongest ? "…" : "");
}

/// Collects the first diagnostic so that it can be part of an error.
class FirstDiagnostic {
public:
  explicit FirstDiagnostic(mlir::MLIRContext *context)
      : handler(context, [this](mlir::Diagnostic &diagnostic) {
          if (text.empty())
            text = diagnostic.str();
          return mlir::success();
        }) {}
  std::string text;

private:
  mlir::ScopedDiagnosticHandler handler;
};

/// Imports one parsed model into a new module.
class OnnxImporter {
public:
  OnnxImporter(mlir::MLIRContext &context, const onnx::ModelProto &model, llvm::StringMap<int64_t> opsets,
               const ImportOptions &options)
      : context(context), model(model), opsets(std::move(opsets)), functions(model), options(options) {}

  /// `weights` has the raw data of initialisers that was taken out of the model, by their position, and
  /// `file` keeps it.
  llvm::Error readInitializers(llvm::ArrayRef<llvm::StringRef> weights,
                               std::shared_ptr<llvm::MemoryBuffer> file, ExternalData *external);
  /// `external` may be null.
  llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> run(const ImportLimits &limits, ExternalData *external);

private:
  llvm::Expected<ImportedValue> bindInput(const onnx::ValueInfoProto &input);
  llvm::Expected<Shape> boundShape(const onnx::ValueInfoProto &input);
  llvm::Error defineKnownValues(ImportContext &import);
  llvm::Error defineInputValue(ImportContext &import, llvm::StringRef name, llvm::StringRef text);
  llvm::Error bindSymbol(llvm::StringRef symbol, int64_t size, llvm::StringRef input);
  std::string inputNames() const;
  llvm::Error defineInputs(ImportContext &import, mlir::func::FuncOp function);
  llvm::Error returnOutputs(ImportContext &import, mlir::func::FuncOp function, mlir::OpBuilder &builder);
  llvm::Error checkBindings(llvm::ArrayRef<const onnx::ValueInfoProto *> inputs);

  mlir::MLIRContext &context;
  const onnx::ModelProto &model;
  llvm::StringMap<int64_t> opsets;
  FunctionLibrary functions;
  const ImportOptions &options;
  /// Values known before any node is; inputs of the same name are no arguments of @main.
  llvm::StringMap<ConstantTensor> knownValues;
  /// Sizes that symbolic dimensions were bound to, and by which input.
  llvm::StringMap<std::pair<int64_t, std::string>> symbols;
};

/// Dimensions of one name have one size in all inputs.
llvm::Error OnnxImporter::bindSymbol(llvm::StringRef symbol, int64_t size, llvm::StringRef input) {
  if (symbol.empty())
    return llvm::Error::success();
  auto [known, added] = symbols.try_emplace(symbol, size, input.str());
  if (added || known->second.first == size)
    return llvm::Error::success();
  return error("dimension '" + symbol + "' is " + llvm::Twine(known->second.first) + " in input '" +
               known->second.second + "' but " + llvm::Twine(size) + " in input '" + input + "'");
}

llvm::Expected<Shape> OnnxImporter::boundShape(const onnx::ValueInfoProto &input) {
  std::string label = "input '" + input.name() + "'";
  auto given = options.inputShapes.find(input.name());
  bool bound = given != options.inputShapes.end();
  const onnx::TypeProto::Tensor &type = input.type().tensor_type();
  if (!type.has_shape()) {
    if (!bound)
      return error(label + " has no shape; give it with --input-shape " + input.name() + "=…");
    return Shape(given->second.begin(), given->second.end());
  }
  int rank = type.shape().dim_size();
  if (bound && given->second.size() != static_cast<size_t>(rank))
    return error(label + " has rank " + llvm::Twine(rank) + ", the given shape " + shapeText(given->second) +
                 " has rank " + llvm::Twine(given->second.size()));
  Shape shape;
  for (int i = 0; i < rank; ++i) {
    const auto &dim = type.shape().dim(i);
    // Some exporters write 0 or -1 for "unknown".
    bool fixed = dim.has_dim_value() && dim.dim_value() > 0;
    int64_t size = fixed ? dim.dim_value() : -1;
    if (bound && fixed && given->second[i] != size)
      return error(label + ": dimension " + llvm::Twine(i) + " is " + llvm::Twine(size) + " in the model, " +
                   llvm::Twine(given->second[i]) + " in the given shape " + shapeText(given->second));
    if (bound)
      size = given->second[i];
    auto symbol =
        dim.has_dim_param() && !dim.dim_param().empty() ? symbols.find(dim.dim_param()) : symbols.end();
    if (size < 0 && symbol != symbols.end())
      size = symbol->second.first;
    if (size < 0)
      return error(label + ": dimension " + llvm::Twine(i) +
                   (dim.dim_param().empty() ? std::string() : " ('" + dim.dim_param() + "')") +
                   " is dynamic; bind it with --input-shape " + input.name() + "=…");
    if (dim.has_dim_param())
      if (llvm::Error failure = bindSymbol(dim.dim_param(), size, input.name()))
        return failure;
    shape.push_back(size);
  }
  return shape;
}

llvm::Expected<ImportedValue> OnnxImporter::bindInput(const onnx::ValueInfoProto &input) {
  if (!input.type().has_tensor_type())
    return error("input '" + input.name() + "' is not a dense tensor");
  std::optional<ElementType> type = elementTypeFromOnnx(input.type().tensor_type().elem_type());
  if (!type)
    return error("input '" + input.name() + "' has element type " +
                 onnxDataTypeName(input.type().tensor_type().elem_type()) + ", which is not supported");
  llvm::Expected<Shape> shape = boundShape(input);
  if (!shape)
    return shape.takeError();
  std::optional<int64_t> bytes = checkedByteCount(*shape, *type);
  if (!bytes)
    return error("input '" + input.name() + "' has the impossible shape " + shapeText(*shape));
  ImportedValue value;
  value.type = *type;
  value.shape = *shape;
  return value;
}

/// The names of all inputs, for messages.
std::string OnnxImporter::inputNames() const {
  return llvm::join(
      llvm::map_range(model.graph().input(), [](const auto &input) { return "'" + input.name() + "'"; }),
      ", ");
}

llvm::Error OnnxImporter::checkBindings(llvm::ArrayRef<const onnx::ValueInfoProto *> inputs) {
  for (const auto &entry : options.inputShapes)
    if (!llvm::is_contained(llvm::map_range(model.graph().input(), [](const auto &i) { return i.name(); }),
                            entry.getKey()))
      return error("no input is named '" + entry.getKey() + "'; the inputs are " + inputNames());
  // Explicit bindings fix the named dimensions first, in whatever order the inputs come.
  for (const onnx::ValueInfoProto *input : inputs) {
    auto given = options.inputShapes.find(input->name());
    if (given == options.inputShapes.end() || !input->type().tensor_type().has_shape())
      continue;
    const auto &dims = input->type().tensor_type().shape().dim();
    for (int i = 0; i < dims.size() && static_cast<size_t>(i) < given->second.size(); ++i)
      if (dims[i].has_dim_param() && !dims[i].dim_param().empty())
        symbols.try_emplace(dims[i].dim_param(), given->second[i], input->name());
  }
  return llvm::Error::success();
}

llvm::Error OnnxImporter::readInitializers(llvm::ArrayRef<llvm::StringRef> weights,
                                           std::shared_ptr<llvm::MemoryBuffer> file, ExternalData *external) {
  if (model.graph().sparse_initializer_size())
    return error("sparse initialisers are not supported ('" +
                 model.graph().sparse_initializer(0).values().name() + "')");
  for (auto [index, tensor] : llvm::enumerate(model.graph().initializer())) {
    if (tensor.name().empty())
      return error("an initialiser has no name");
    bool apart = index < weights.size() && !weights[index].empty() &&
                 tensor.data_location() != onnx::TensorProto::EXTERNAL;
    llvm::Expected<ConstantTensor> constant =
        apart ? toConstant(tensor, llvm::ArrayRef(weights[index].data(), weights[index].size()), file)
              : toConstant(tensor, external);
    if (!constant)
      return constant.takeError();
    if (!knownValues.try_emplace(tensor.name(), std::move(*constant)).second)
      return error("two initialisers are named '" + tensor.name() + "'");
  }
  return llvm::Error::success();
}

llvm::Error OnnxImporter::defineKnownValues(ImportContext &import) {
  for (const auto &entry : knownValues)
    import.define(entry.getKey(), ImportedValue::known(entry.second));
  for (const auto &entry : options.inputValues)
    if (llvm::Error failure = defineInputValue(import, entry.getKey(), entry.second))
      return failure;
  return llvm::Error::success();
}

llvm::Error OnnxImporter::defineInputValue(ImportContext &import, llvm::StringRef name,
                                           llvm::StringRef text) {
  auto input = llvm::find_if(model.graph().input(), [&](const auto &i) { return name == i.name(); });
  if (input == model.graph().input().end())
    return error("no input is named '" + name + "'; the inputs are " + inputNames());
  const onnx::TypeProto::Tensor &type = input->type().tensor_type();
  std::optional<ElementType> element = elementTypeFromOnnx(type.elem_type());
  if (!element)
    return error("input '" + name + "' has element type " + onnxDataTypeName(type.elem_type()) +
                 ", which is not supported");
  DeclaredInput declared{*element, std::nullopt};
  if (type.has_shape()) {
    declared.shape.emplace();
    for (const auto &dim : type.shape().dim())
      declared.shape->push_back(dim.has_dim_value() && dim.dim_value() > 0 ? dim.dim_value() : -1);
  }
  llvm::Expected<ConstantTensor> value = parseInputValue(text, declared);
  if (!value)
    return error("value of input '" + name + "': " + llvm::toString(value.takeError()));
  // Names of dimensions are shared with the other inputs.
  if (type.has_shape())
    for (auto [dim, size] : llvm::zip(type.shape().dim(), value->shape()))
      if (llvm::Error failure = bindSymbol(dim.dim_param(), size, name))
        return failure;
  import.define(name, ImportedValue::known(*value));
  knownValues.insert_or_assign(name, *value);
  return llvm::Error::success();
}

llvm::Error OnnxImporter::defineInputs(ImportContext &import, mlir::func::FuncOp function) {
  std::vector<const onnx::ValueInfoProto *> inputs;
  for (const onnx::ValueInfoProto &input : model.graph().input())
    if (!knownValues.contains(input.name()))
      inputs.push_back(&input);
  if (llvm::Error failure = checkBindings(inputs))
    return failure;
  llvm::SmallVector<mlir::Type> types;
  mlir::Block &entry = function.getBody().front();
  for (auto [index, input] : llvm::enumerate(inputs)) {
    llvm::Expected<ImportedValue> value = bindInput(*input);
    if (!value)
      return value.takeError();
    if (import.find(input->name()))
      return error("two inputs are named '" + input->name() + "'");
    auto type = mlir::RankedTensorType::get(value->shape, toMlirType(value->type, &context));
    types.push_back(type);
    value->value =
        entry.addArgument(type, mlir::NameLoc::get(mlir::StringAttr::get(&context, input->name())));
    ElementType element = value->type;
    import.define(input->name(), std::move(*value));
    function.setType(mlir::FunctionType::get(&context, types, {}));
    function.setArgAttr(index, "autotune.name", mlir::StringAttr::get(&context, input->name()));
    if (isUnsigned(element) && element != ElementType::Bool)
      function.setArgAttr(index, "autotune.dtype", mlir::StringAttr::get(&context, spelling(element)));
  }
  return llvm::Error::success();
}

/// A tensor of an output, with its name.
struct Result {
  ImportedValue value;
  std::string name;
};

/// The elements of a sequence are results of their own, `y[0]`, `y[1]`, …; an optional without a value is
/// none.
void addResults(const ImportedValue &value, const std::string &name, std::vector<Result> &results) {
  if (value.isTensor())
    results.push_back({value, name});
  if (value.elements)
    for (auto [index, element] : llvm::enumerate(*value.elements))
      addResults(element, name + "[" + std::to_string(index) + "]", results);
}

llvm::Error OnnxImporter::returnOutputs(ImportContext &import, mlir::func::FuncOp function,
                                        mlir::OpBuilder &builder) {
  std::vector<Result> results;
  for (const onnx::ValueInfoProto &output : model.graph().output()) {
    ImportedValue *value = import.find(output.name());
    if (!value)
      return error("output '" + output.name() + "' is defined by no node");
    if (value->isTensor())
      import.valueOf(*value); // once, also when several outputs have the value
    addResults(*value, output.name(), results);
  }
  llvm::SmallVector<mlir::Value> values;
  for (Result &result : results)
    values.push_back(import.valueOf(result.value));
  builder.create<mlir::func::ReturnOp>(builder.getUnknownLoc(), values);
  auto resultTypes = llvm::to_vector(llvm::map_range(values, [](mlir::Value v) { return v.getType(); }));
  function.setType(mlir::FunctionType::get(&context, function.getArgumentTypes(), resultTypes));
  for (auto [index, result] : llvm::enumerate(results)) {
    ElementType element = result.value.type;
    function.setResultAttr(index, "autotune.name", mlir::StringAttr::get(&context, result.name));
    if (isUnsigned(element) && element != ElementType::Bool)
      function.setResultAttr(index, "autotune.dtype", mlir::StringAttr::get(&context, spelling(element)));
  }
  return llvm::Error::success();
}

/// Users come after definitions, so one walk from the end removes whole dead chains.
void eraseDeadOps(mlir::func::FuncOp function) {
  for (mlir::Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (mlir::isOpTriviallyDead(&op))
      op.erase();
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> OnnxImporter::run(const ImportLimits &limits,
                                                                    ExternalData *external) {
  auto unknown = mlir::UnknownLoc::get(&context);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(unknown);
  auto function = mlir::func::FuncOp::create(unknown, "main", mlir::FunctionType::get(&context, {}, {}));
  module->push_back(function);
  function.addEntryBlock();
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(&function.getBody().front());
  ImportContext import(function, std::move(opsets), functions, external, limits);
  import.countUses(model.graph());
  if (llvm::Error failure = defineKnownValues(import))
    return failure;
  if (llvm::Error failure = defineInputs(import, function))
    return failure;
  knownValues.clear();  // `import` has them: the last reader lets go
  if (llvm::Error failure = import.importNodes(model.graph(), builder))
    return failure;
  if (llvm::Error failure = returnOutputs(import, function, builder))
    return failure;
  eraseDeadOps(function);
  if (std::map<std::string, int64_t> ideas = import.ideaCounts(); !ideas.empty()) {
    llvm::SmallVector<mlir::NamedAttribute> counts;
    for (const auto &[name, count] : ideas)
      counts.push_back(builder.getNamedAttr(name, builder.getI64IntegerAttr(count)));
    (*module)->setAttr("autotune.ideas", builder.getDictionaryAttr(counts));
  }
  FirstDiagnostic diagnostic(&context);
  if (failed(mlir::verify(*module)))
    return error("the imported function is not valid (please report this): " + diagnostic.text);
  return module;
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> importOnnx(mlir::MLIRContext &context,
                                                             std::shared_ptr<llvm::MemoryBuffer> file,
                                                             llvm::StringRef folder,
                                                             const ImportOptions &options) {
  SplitModel split = splitModel(file->getBuffer());
  auto model = parseOnnxModel(split.bytes);
  if (!model)
    return model.takeError();
  llvm::Expected<llvm::StringMap<int64_t>> opsets = importedOpsets(**model);
  if (!opsets)
    return opsets.takeError();
  if (llvm::Error failure = checkOperatorsKnown(**model, *opsets))
    return failure;
  if (llvm::Error failure = checkWithOnnx(**model, opsets->lookup("")))
    return failure;
  expandSequenceInputs(**model, options);
  std::optional<ExternalData> folderOfModel;
  if (!folder.empty())
    folderOfModel.emplace(folder);
  ExternalData *external = folderOfModel ? &*folderOfModel : nullptr;
  OnnxImporter importer(context, **model, std::move(*opsets), options);
  if (llvm::Error failure = importer.readInitializers(split.rawData, file, external))
    return failure;
  int64_t stored = static_cast<int64_t>(file->getBufferSize()) + (external ? external->bytesRead() : 0);
  return importer.run(ImportLimits::forStoredBytes(stored), external);
}

} // namespace

void registerFrontendDialects(mlir::DialectRegistry &registry) {
  registry.insert<AutotuneDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::linalg::LinalgDialect,
                  mlir::math::MathDialect, mlir::scf::SCFDialect, mlir::tensor::TensorDialect>();
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importModel(mlir::MLIRContext &context, llvm::StringRef path, const ImportOptions &options) {
  auto withPath = [&](const llvm::Twine &message) { return error(oneLine((path + ": " + message).str())); };
  llvm::sys::fs::file_status status;
  if (std::error_code code = llvm::sys::fs::status(path, status))
    return withPath(code.message());
  if (llvm::sys::fs::is_directory(status))
    return withPath("is a directory, expected an ONNX or MLIR file");
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/true);
  if (!buffer)
    return withPath(buffer.getError().message());
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  return importModelFromMemory(context, std::move(*buffer), folder.empty() ? "." : folder, options);
}

llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importModelFromMemory(mlir::MLIRContext &context, std::unique_ptr<llvm::MemoryBuffer> bytes,
                      llvm::StringRef folder, const ImportOptions &options) {
  context.loadDialect<AutotuneDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::linalg::LinalgDialect,
                      mlir::math::MathDialect, mlir::scf::SCFDialect, mlir::tensor::TensorDialect>();
  std::string name = bytes->getBufferIdentifier().str();
  llvm::StringRef extension = llvm::sys::path::extension(name);
  bool isMlir = extension == ".mlir" || extension == ".mlirbc" || bytes->getBuffer().starts_with("ML\xefR");
  auto module =
      isMlir ? importMlir(context, *bytes, options) : importOnnx(context, std::move(bytes), folder, options);
  if (!module)
    return error(oneLine(name + ": " + llvm::toString(module.takeError())));
  return module;
}

} // namespace autotune
