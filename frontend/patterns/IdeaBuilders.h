// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builders of ideas that are no operator of ONNX, or mean more than ONNX's. Files cannot name them.
#pragma once

#include "frontend/NodeContext.h"

namespace autotune {

/// Query, key, value, bias, mask (the last two may be absent). Attributes: scale, causal, fill as in
/// autotune.attention; `key_transposed`: the key is [batch…, depth, columns]; `inverted`: the mask says which
/// scores are replaced.
mlir::LogicalResult buildAttention(NodeContext &node);
/// Input, scale, bias (both may be absent). Attributes: axes, epsilon, rms as in autotune.layer_norm.
mlir::LogicalResult buildLayerNorm(NodeContext &node);
/// x · sigmoid(alpha x)
mlir::LogicalResult buildSwish(NodeContext &node);

} // namespace autotune
