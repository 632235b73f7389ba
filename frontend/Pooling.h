// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Averages over windows, shared with the quantised forms.
#pragma once

#include "frontend/Emit.h"

namespace autotune {

/// AveragePool with the attributes of `node`, over [batch, channels, …].
mlir::FailureOr<mlir::Value> averagePooled(NodeContext &node, mlir::Value input);
/// The average over all spatial dimensions, which become 1.
mlir::Value globalAverage(Builder &b, mlir::Value input);

} // namespace autotune
