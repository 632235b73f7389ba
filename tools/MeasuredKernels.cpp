// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/MeasuredKernels.h"

#include "dialect/AutotuneDialect.h"
#include "passes/Dialects.h"
#include "schedule/Errors.h"

#include "mlir/Parser/Parser.h"

namespace autotune {
namespace {

std::string typeText(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// Notes what the kernel reads `argument` as, where not any numbers will do: filters transformed for Winograd's
/// algorithm, weights of a state.
void noteMeaning(mlir::Value argument, worker::KernelArg &arg) {
  for (mlir::Operation *user : argument.getUsers()) {
    if (auto recurrence = mlir::dyn_cast<RecurrenceOp>(user); recurrence && recurrence.getWeight() == argument)
      arg.scale = 1 / double(recurrence.getHidden());
    if (auto filters = mlir::dyn_cast<WinogradFilterOp>(user)) {
      arg.winogradOutputs = int64_t(filters.getOutputs());
      arg.winogradFilters =
          filters.getTransformed().getType().getDimSize(2) * filters.getTransformed().getType().getDimSize(3);
    }
  }
}

/// What the kernel's signature says, with the roles that the arguments have in `step`.
llvm::Expected<std::vector<worker::KernelArg>> kernelArgs(mlir::MLIRContext &context,
                                                          const UniqueKernel &kernel, const PlanStep &step) {
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceString<mlir::ModuleOp>(kernel.text, &context);
  auto function = module ? module->lookupSymbol<mlir::func::FuncOp>("kernel") : nullptr;
  if (!function)
    return makeError("operator '{0}': the kernel's text does not parse", kernel.label);
  std::vector<worker::KernelArg> args;
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto tensor = mlir::cast<mlir::RankedTensorType>(type);
    int64_t elementBytes = llvm::divideCeil(tensor.getElementTypeBitWidth(), 8);
    worker::ArgRole role = worker::ArgRole::Input;
    if (index + 1 == function.getNumArguments())
      role = worker::ArgRole::Output;
    else if (step.arguments[index].place == BufferPlace::Constant)
      role = worker::ArgRole::Weight;
    args.push_back({role, typeText(tensor.getElementType()), tensor.getNumElements() * elementBytes});
    noteMeaning(function.getArgument(unsigned(index)), args.back());
  }
  return args;
}

int64_t weightBytes(const std::vector<worker::KernelArg> &args) {
  int64_t bytes = 0;
  for (const worker::KernelArg &arg : args)
    bytes += arg.role == worker::ArgRole::Weight ? arg.bytes : 0;
  return bytes;
}

} // namespace

llvm::Expected<std::map<std::string, MeasuredKernel>> measuredKernels(const ModelPlan &plan) {
  mlir::DialectRegistry registry;
  registerKernelDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  std::map<std::string, MeasuredKernel> kernels;
  for (const PlanStep &step : plan.steps) {
    const UniqueKernel &kernel = plan.kernels[step.kernel];
    if (!kernel.workload || kernels.contains(kernel.workload->key()))
      continue;
    llvm::Expected<std::vector<worker::KernelArg>> args = kernelArgs(context, kernel, step);
    if (!args)
      return args.takeError();
    int64_t streamed = plan.constantsBytes - weightBytes(*args);
    kernels[kernel.workload->key()] = {kernel.text, std::move(*args), std::nullopt, streamed};
  }
  return kernels;
}

} // namespace autotune
