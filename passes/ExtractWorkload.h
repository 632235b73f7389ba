// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From an outlined kernel to its workload and its canonical text.
#pragma once

#include "schedule/Workload.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace autotune {

/// The kernel as MLIR text under the name @kernel, without locations and choices: equal texts are the same program.
std::string kernelText(mlir::func::FuncOp kernel);

struct WorkloadContext {
  llvm::ArrayRef<bool> constantArguments;  // per kernel argument: a constant of the model
  int threads = 1;
  Numerics numerics = Numerics::Default;
};

/// The workload of the root op and its tail; nothing for kernels without a linalg op that computes their result (the
/// border of a padded buffer), which have nothing to choose.
std::optional<Workload> extractWorkload(mlir::func::FuncOp kernel, llvm::StringRef text,
                                        const WorkloadContext &context);

} // namespace autotune
