// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the graph passes, then reads the call list of @main into a plan.

#include "runtime/build/ModelPlan.h"

#include "passes/ApplyLayout.h"
#include "passes/ExtractGraph.h"
#include "passes/ExtractWorkload.h"
#include "passes/OpRoles.h"
#include "passes/OutlineKernels.h"
#include "passes/OverwritableArguments.h"
#include "passes/PackRecurrences.h"
#include "passes/PlaceBuffers.h"
#include "passes/SpreadRows.h"
#include "runtime/build/ArenaPlanner.h"
#include "runtime/build/FirstError.h"
#include "runtime/deploy/Artifact.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace autotune {
namespace {

int64_t bytesOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() * ((tensor.getElementTypeBitWidth() + 7) / 8);
}

class PlanBuilder {
public:
  PlanBuilder(func::FuncOp main, const PlanOptions &options)
      : main(main), module(main->getParentOfType<ModuleOp>()), options(options) {}

  llvm::Expected<ModelPlan> run() {
    describeSignature();
    int step = 0;
    for (auto call : main.getBody().front().getOps<func::CallOp>())
      noteLifetimes(call, step++);
    placeOutputs();
    step = 0;
    for (auto call : main.getBody().front().getOps<func::CallOp>())
      shareWithInput(call, step++);
    placeArena();
    for (auto call : main.getBody().front().getOps<func::CallOp>())
      addStep(call);
    return std::move(plan);
  }

private:
  /// The value whose buffer `value` lives in: reshapes are views, a kernel's result is its destination.
  static Value bufferOf(Value value) {
    while (Operation *op = value.getDefiningOp()) {
      if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
        value = op->getOperand(0);
      else if (auto call = dyn_cast<func::CallOp>(op))
        value = call.getOperands().back();
      else
        break;
    }
    return value;
  }

  /// `dtype` is given where the type of the IR does not say it: signs of integers.
  PlanTensor describe(Type type, Attribute name, Attribute dtype, llvm::StringRef fallback) {
    auto tensor = cast<RankedTensorType>(type);
    PlanTensor result;
    result.name = name ? cast<StringAttr>(name).getValue().str() : fallback.str();
    if (dtype)
      result.dtype = cast<StringAttr>(dtype).getValue().str();
    else
      llvm::raw_string_ostream(result.dtype) << tensor.getElementType();
    result.shape.assign(tensor.getShape().begin(), tensor.getShape().end());
    return result;
  }

  void describeSignature() {
    for (unsigned i = 0; i < main.getNumArguments(); ++i)
      plan.inputs.push_back(describe(main.getArgument(i).getType(), main.getArgAttr(i, "autotune.name"),
                                     main.getArgAttr(i, "autotune.dtype"), ("input_" + Twine(i)).str()));
    for (unsigned i = 0; i < main.getNumResults(); ++i)
      plan.outputs.push_back(describe(main.getResultTypes()[i], main.getResultAttr(i, "autotune.name"),
                                      main.getResultAttr(i, "autotune.dtype"), ("output_" + Twine(i)).str()));
  }

  void noteLifetimes(func::CallOp call, int step) {
    for (Value operand : call.getOperands()) {
      Value buffer = bufferOf(operand);
      if (!buffer.getDefiningOp<tensor::EmptyOp>())
        continue;
      auto [entry, isNew] =
          lifetimes.try_emplace(buffer, BufferLifetime{bytesOf(buffer.getType()), step, step});
      entry->second.lastStep = step;
      if (isNew)
        buffers.push_back(buffer);
    }
  }

  void placeOutputs() {
    for (auto [i, result] : llvm::enumerate(main.getBody().front().getTerminator()->getOperands()))
      places[bufferOf(result)] = {BufferPlace::Output, i, 0};
  }

  /// The buffer that holds `buffer`, which may have been an input of the kernel that first writes it.
  Value ownerOf(Value buffer) const {
    for (auto it = owners.find(buffer); it != owners.end(); it = owners.find(buffer))
      buffer = it->second;
    return buffer;
  }

  /// A kernel that nobody has prepared the destination of (no borders, no other part) may write over an input
  /// that nobody reads any more.
  void shareWithInput(func::CallOp call, int step) {
    Value dest = bufferOf(call.getOperands().back());
    auto written = lifetimes.find(dest);
    if (written == lifetimes.end() || written->second.firstStep != step || places.contains(dest))
      return;
    SmallVector<Value> operands;
    for (Value operand : call.getOperands())
      operands.push_back(ownerOf(bufferOf(operand)));
    for (unsigned index : overwritableArguments(cast<func::FuncOp>(module.lookupSymbol(call.getCallee())))) {
      Value source = operands[index];
      auto read = lifetimes.find(source);
      if (read == lifetimes.end() || read->second.lastStep != step ||
          read->second.bytes != written->second.bytes || places.contains(source) ||
          llvm::count(operands, source) != 1)
        continue;
      read->second.lastStep = written->second.lastStep;
      owners[dest] = source;
      return;
    }
  }

  void placeArena() {
    std::vector<BufferLifetime> lives;
    SmallVector<Value> placed;
    for (Value buffer : buffers) {
      if (places.contains(buffer))
        continue;
      plan.tensorBytes += lifetimes[buffer].bytes;
      if (owners.contains(buffer))
        continue;
      lives.push_back(lifetimes[buffer]);
      placed.push_back(buffer);
    }
    ArenaPlan arena = planArena(lives, AUTOTUNE_BUFFER_ALIGNMENT);
    plan.arenaBytes = arena.arenaBytes;
    for (auto [buffer, offset] : llvm::zip(placed, arena.offsets))
      places[buffer] = {BufferPlace::Arena, 0, offset};
  }

  StepArgument locate(Value operand) {
    Value buffer = bufferOf(operand);
    if (auto argument = dyn_cast<BlockArgument>(buffer))
      return {BufferPlace::Input, argument.getArgNumber(), 0};
    if (DenseElementsAttr constant = constantValue(buffer))
      return {BufferPlace::Constant, 0, constantOffset(constant)};
    return places.lookup(ownerOf(buffer));
  }

  int64_t constantOffset(DenseElementsAttr value) {
    auto [entry, isNew] = constants.try_emplace(value, plan.constantsBytes);
    if (isNew) {
      plan.constants.push_back({value, plan.constantsBytes});
      int64_t bytes = bytesOf(value.getType());
      plan.constantsBytes +=
          (bytes + AUTOTUNE_BUFFER_ALIGNMENT - 1) / AUTOTUNE_BUFFER_ALIGNMENT * AUTOTUNE_BUFFER_ALIGNMENT;
    }
    return entry->second;
  }

  void addStep(func::CallOp call) {
    auto kernel = cast<func::FuncOp>(module.lookupSymbol(call.getCallee()));
    std::string text = kernelText(kernel);
    SmallVector<bool> constant;
    for (Value operand : call.getOperands())
      constant.push_back(bool(constantValue(bufferOf(operand))));
    PlanStep step;
    step.label = operatorLabel(call);
    if (auto id = call->getAttrOfType<IntegerAttr>(kOperatorIdAttr))
      step.operatorId = int(id.getInt());
    std::optional<Workload> workload =
        extractWorkload(kernel, text, {constant, options.threads, options.numerics});
    std::string key = workload ? workload->key() : hashText(text);
    auto [entry, isNew] = kernels.try_emplace(key, plan.kernels.size());
    if (isNew)
      plan.kernels.push_back({std::move(text), std::move(workload), step.label, 0});
    step.kernel = entry->second;
    ++plan.kernels[step.kernel].occurrences;
    for (Value operand : call.getOperands())
      step.arguments.push_back(locate(operand));
    plan.steps.push_back(std::move(step));
  }

  func::FuncOp main;
  ModuleOp module;
  const PlanOptions &options;
  ModelPlan plan;
  llvm::DenseMap<Value, BufferLifetime> lifetimes;
  SmallVector<Value> buffers;
  llvm::DenseMap<Value, Value> owners; // of buffers that share the memory of another
  llvm::DenseMap<Value, StepArgument> places;
  llvm::DenseMap<Attribute, int64_t> constants;
  llvm::StringMap<size_t> kernels;
};

} // namespace

llvm::Expected<ModelPlan> planModel(ModuleOp module, const Partition &partition, const PlanOptions &options) {
  OwningOpRef<ModuleOp> copy = module.clone();
  FirstError errors(*module.getContext());
  auto main = copy->lookupSymbol<func::FuncOp>("main");
  if (!main)
    return llvm::createStringError(llvm::inconvertibleErrorCode(), "expected a function @main");
  packRecurrences(main, options.device.vectorBytes() / int64_t(sizeof(float)));
  if (failed(applyLayout(main, partition, options.device)) || failed(outlineKernels(main)) ||
      failed(placeBuffers(main)))
    return errors.take("partition");
  spreadRows(main);
  return PlanBuilder(main, options).run();
}

} // namespace autotune
