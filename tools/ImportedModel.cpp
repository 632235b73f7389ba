// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/ImportedModel.h"

#include "frontend/Import.h"
#include "frontend/OutputQuanta.h"
#include "passes/Decompose.h"
#include "passes/Dialects.h"
#include "passes/ExtractGraph.h"
#include "passes/SimplifyModel.h"
#include "schedule/Workload.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

namespace autotune {
namespace {

std::vector<InputShape> boundShapes(const TargetConfig &target, const std::vector<HostTensor> &tensors) {
  if (!target.inputShapes.empty())
    return target.inputShapes;
  std::vector<InputShape> shapes;
  for (const HostTensor &tensor : tensors)
    if (!tensor.name.empty())
      shapes.push_back({tensor.name, {tensor.shape}});
  return shapes;
}

llvm::Expected<ImportedProfile> importProfile(mlir::MLIRContext &context, const std::string &path,
                                              const ImportOptions &options) {
  llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> module = importModel(context, path, options);
  if (!module)
    return module.takeError();
  auto main = (*module)->lookupSymbol<mlir::func::FuncOp>("main");
  if (failed(decomposeIdeas(main)) || failed(simplifyModel(main)))
    return llvm::createStringError(path + ": the model cannot be simplified");
  Graph graph = extractGraph(main);
  return ImportedProfile{std::move(*module), std::move(graph)};
}

} // namespace

std::string modelName(llvm::StringRef path) { return llvm::sys::path::stem(path).str(); }

llvm::Expected<ImportedModel> importForTarget(const std::string &path, const TargetConfig &target,
                                              const std::vector<HostTensor> &tensors) {
  std::vector<InputShape> shapes = boundShapes(target, tensors);
  auto bindings = shapeProfiles(shapes);
  if (!bindings)
    return bindings.takeError();
  ImportedModel model;
  model.path = path;
  model.name = modelName(path);
  model.outputQuanta = readOutputQuanta(path);
  mlir::DialectRegistry registry;
  registerFrontendDialects(registry);
  registerKernelDialects(registry);
  model.context = std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
  ImportOptions options;
  for (const InputValue &value : target.inputValues)
    if (!options.inputValues.try_emplace(value.name, value.value).second)
      return llvm::createStringError("input values: `" + value.name + "` is given twice, expected once");
  for (llvm::StringMap<std::vector<int64_t>> &binding : *bindings) {
    options.inputShapes = std::move(binding);
    llvm::Expected<ImportedProfile> profile = importProfile(*model.context, path, options);
    if (!profile)
      return profile.takeError();
    model.profiles.push_back(std::move(*profile));
  }
  auto bytes = llvm::MemoryBuffer::getFile(path);
  if (!bytes)
    return llvm::createStringError(path + ": " + bytes.getError().message());
  model.content = hashText((*bytes)->getBuffer());
  for (const InputShape &shape : shapes)
    model.content += " " + shape.text();
  for (const InputValue &value : target.inputValues) {
    auto file = llvm::MemoryBuffer::getFile(value.value);
    model.content += " " + value.name + "=" + (file ? hashText((*file)->getBuffer()) : value.value);
  }
  return model;
}

} // namespace autotune
