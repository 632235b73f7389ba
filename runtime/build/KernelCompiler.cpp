// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parses, schedules, vectorises, lowers and emits one kernel; diagnostics become the error's text.

#include "runtime/build/KernelCompiler.h"

#include "passes/Dialects.h"
#include "passes/LowerKernel.h"
#include "passes/LowerWinograd.h"
#include "passes/OverwritableArguments.h"
#include "passes/TileNest.h"
#include "passes/VectorizeKernel.h"
#include "passes/WholeIdeas.h"
#include "runtime/build/FirstError.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace autotune {
namespace {

DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registerKernelDialects(registry);
  return registry;
}

} // namespace

KernelCompiler::KernelCompiler(ObjectEmitter emitter)
    : context(makeRegistry(), MLIRContext::Threading::DISABLED), emitter(std::move(emitter)) {
  context.loadAllAvailableDialects();
}

llvm::Expected<std::unique_ptr<KernelCompiler>> KernelCompiler::create(Isa isa) {
  llvm::Expected<ObjectEmitter> emitter = ObjectEmitter::create(isa);
  if (!emitter)
    return emitter.takeError();
  return std::unique_ptr<KernelCompiler>(new KernelCompiler(std::move(*emitter)));
}

llvm::Expected<OwningOpRef<ModuleOp>> KernelCompiler::schedule(llvm::StringRef text,
                                                               const std::optional<LoopNest> &nest) {
  FirstError errors(context);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return errors.take("parse");
  auto kernels = llvm::to_vector(module->getOps<func::FuncOp>());
  if (kernels.size() != 1)
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "expected one function in a kernel, found %zu", kernels.size());
  markOverwritableArguments(kernels[0]);
  if (nest && isWinogradKernel(kernels[0])) {
    if (failed(lowerWinograd(kernels[0], *nest)))
      return errors.take("schedule");
    return module;
  }
  Operation *idea = wholeIdea(kernels[0]);
  if (idea || holdsIdea(kernels[0])) {
    if (failed(nest && idea ? emitIdea(kernels[0], idea, *nest) : emitInPieces(kernels[0])))
      return errors.take("schedule");
    if (failed(simplifyKernel(kernels[0])))
      return errors.take("vectorize");
    return module;
  }
  std::optional<LoopNest> loops = nest ? nest : plainNest(kernels[0]);
  OwningOpRef<ModuleOp> untiled = nest ? ModuleOp() : module->clone();
  if (!loops) {
    addChunkArguments(kernels[0]);
  } else if (failed(tileToNest(kernels[0], *loops))) {
    if (nest)
      return errors.take("schedule");
    module = std::move(untiled); // loops over whole operators, one after the other
    kernels = llvm::to_vector(module->getOps<func::FuncOp>());
    addChunkArguments(kernels[0]);
  }
  if (failed(nest ? vectorizeKernel(kernels[0]) : simplifyKernel(kernels[0])))
    return errors.take("vectorize");
  return module;
}

llvm::Expected<ObjectCode> KernelCompiler::compile(llvm::StringRef kernelText,
                                                   const std::optional<LoopNest> &nest,
                                                   llvm::StringRef symbol, bool exported) {
  llvm::Expected<OwningOpRef<ModuleOp>> module = schedule(kernelText, nest);
  if (!module)
    return module.takeError();
  FirstError errors(context);
  int64_t scratchBytes = 0;
  if (failed(lowerKernelToLlvm(**module, &scratchBytes)))
    return errors.take("lower");
  llvm::Expected<ObjectCode> object = emitter.emit(**module, symbol, exported);
  if (object)
    object->scratchBytes = scratchBytes;
  return object;
}

llvm::Expected<std::string> KernelCompiler::printVectorized(llvm::StringRef kernelText,
                                                            const LoopNest &nest) {
  llvm::Expected<OwningOpRef<ModuleOp>> module = schedule(kernelText, nest);
  if (!module)
    return module.takeError();
  std::string text;
  llvm::raw_string_ostream stream(text);
  (*module)->print(stream);
  return text;
}

} // namespace autotune
