// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A partitioned model as data: unique kernels, the steps that call them, buffers, constants.
#pragma once

#include "schedule/Device.h"
#include "schedule/Partition.h"
#include "schedule/Workload.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace autotune {

/// A kernel that the model uses, once for all its occurrences.
struct UniqueKernel {
  std::string text;                  // MLIR, function @kernel
  std::optional<Workload> workload;  // absent: nothing to choose
  std::string label;                 // operators of the first occurrence, for people
  int occurrences = 0;
};

enum class BufferPlace { Input, Output, Arena, Constant };

struct StepArgument {
  BufferPlace place = BufferPlace::Arena;
  size_t index = 0;    // of the input or output
  int64_t offset = 0;  // bytes
};

struct PlanStep {
  size_t kernel = 0;  // index into ModelPlan::kernels
  std::string label;  // ONNX node name of the root
  int operatorId = -1;
  std::vector<StepArgument> arguments;
};

struct PlanTensor {
  std::string name, dtype;
  std::vector<int64_t> shape;
};

struct PlanConstant {
  mlir::DenseElementsAttr value;
  int64_t offset = 0;  // bytes from the start of the constants
};

struct ModelPlan {
  std::vector<UniqueKernel> kernels;
  std::vector<PlanStep> steps;
  std::vector<PlanTensor> inputs, outputs;
  std::vector<PlanConstant> constants;
  int64_t constantsBytes = 0;
  int64_t arenaBytes = 0;
  int64_t tensorBytes = 0;  // sum of all intermediate buffers: what an arena without reuse would take
};

struct PlanOptions {
  Device device;
  int threads = 1;
  Numerics numerics = Numerics::Default;
};

/// Applies `partition` to a copy of `module` (whose @main `extractGraph` has numbered) and plans its execution.
/// The plan's constants belong to the context of `module`, which must outlive it.
/// Errors: the partition does not fit, an op without code generation; the operator is named.
llvm::Expected<ModelPlan> planModel(mlir::ModuleOp module, const Partition &partition, const PlanOptions &options);

} // namespace autotune
