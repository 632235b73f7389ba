// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where each output position of a Resize reads along one axis: ONNX's coordinate modes as plain tables.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace autotune {

struct ResampleOptions {
  std::string mode = "nearest";  // nearest, linear, cubic
  std::string coordinates = "half_pixel";
  std::string nearest = "round_prefer_floor";
  double cubicCoefficient = -0.75;
  bool excludeOutside = false;
  bool antialias = false;
};

/// One axis: output position o is the sum over t of weights[o * taps + t] * input[positions[o * taps + t]].
struct ResampleTable {
  int64_t taps = 1;
  std::vector<int64_t> positions;
  std::vector<float> weights;
  /// tf_crop_and_resize: output positions outside the input, which get the extrapolation value.
  std::vector<bool> outside;
};

struct ResampleAxis {
  int64_t input = 0, output = 0;
  double scale = 1;
  double roiStart = 0, roiEnd = 1;
};

bool isCoordinateMode(llvm::StringRef mode);
bool isNearestMode(llvm::StringRef mode);

/// The elements that one output element is made of; many when a filter is widened.
double tapCount(const ResampleAxis &axis, const ResampleOptions &options);

ResampleTable resampleTable(const ResampleAxis &axis, const ResampleOptions &options);

} // namespace autotune
