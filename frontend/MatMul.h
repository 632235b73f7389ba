// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ONNX's matrix product of two tensors of any rank.
#pragma once

#include "frontend/Emit.h"

namespace autotune {

/// Sums in `accumulator`, which is the element type of the result.
mlir::FailureOr<mlir::Value> matrixProduct(NodeContext &node, mlir::Value x, mlir::Value y, mlir::Type accumulator);

/// Gemm with the operands and attributes of `node`.
mlir::FailureOr<mlir::Value> gemmProduct(NodeContext &node);

} // namespace autotune
