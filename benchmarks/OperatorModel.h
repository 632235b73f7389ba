// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators as a small model, in the ops that the frontend makes of an ONNX file.
#pragma once

#include "benchmarks/OperatorData.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace autotune::benchmarks {

struct Layer {
  Operator op;
  OperatorData data; // the first input of a layer behind another is not used
};

/// @main of `layers` in a row: each takes the result of the one before as its first input; all other inputs
/// are those of @main, in order. Simplified as an imported model is, but not numbered.
mlir::OwningOpRef<mlir::ModuleOp> buildModel(mlir::MLIRContext &context, const std::vector<Layer> &layers);

} // namespace autotune::benchmarks
