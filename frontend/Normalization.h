// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// BatchNormalization as a scale and a shift, for those who fold it.
#pragma once

#include "frontend/NodeContext.h"

namespace autotune {

struct ScaleShift {
  std::vector<double> scale, shift;
};

/// y = x * scale + shift for each channel, when the node is in inference form with known parameters.
std::optional<ScaleShift> constantScaleShift(NodeContext &batchNorm, int64_t channels);

} // namespace autotune
