// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Removes what computes nothing: tensors that have a dimension of size 0.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace autotune {

/// After this no op of `main` but the return reads a tensor without elements, and no op computes one: results become
/// `tensor.empty`, loops over nothing leave their initial value, empty parts leave concatenations. Models have such
/// tensors at the start of a cache or where a slice selects nothing.
void dropEmptyTensors(mlir::func::FuncOp main);

} // namespace autotune
