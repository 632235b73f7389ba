// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether an output of a model agrees with its reference.
#pragma once

#include "frontend/TensorFolder.h"

#include <string>

namespace autotune {

/// Floating point: cosine > 0.9999 and max |error| < 1e-3 of the reference's range; NaN and infinity at the
/// same places. Other types: equal.
struct TensorComparison {
  bool passed = false;
  double cosine = 1;        // of the two tensors as vectors
  double maxError = 0;      // largest |difference|
  double relativeError = 0; // maxError / range of the reference
  /// Why it failed: what was found and expected. Empty if it passed.
  std::string reason;
};

TensorComparison compareTensors(const HostTensor &found, const HostTensor &reference);

} // namespace autotune
