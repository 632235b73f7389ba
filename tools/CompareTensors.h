// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether an output of a model agrees with its reference.
#pragma once

#include "frontend/TensorFolder.h"

#include <optional>
#include <string>

namespace autotune {

/// The standard depends on what the output holds; shapes and types must be equal.
/// - Quantised values (integers of 8 bits, and floats that stand for such integers: `quantum` is the distance of
///   neighbours): at most 1 % of the elements differ by more than one quantum, and the greatest element is at the
///   same place (or at one that ties with it).
/// - f16, bf16: max |error| < 1e-2 of the reference's range.
/// - Other floats: cosine > 0.9999 and max |error| < 1e-3 of the reference's range.
/// - Other types: equal.
/// NaN and infinity are at the same places.
struct TensorComparison {
  bool passed = false;
  double cosine = 1;        // of the two tensors as vectors
  double maxError = 0;      // largest |difference|
  double relativeError = 0; // maxError / range of the reference
  double beyondQuantum = 0; // share of the elements that differ by more than one quantum
  /// Why it failed: what was found and expected. Empty if it passed.
  std::string reason;
};

/// `quantum`: of floats that stand for 8-bit integers.
TensorComparison compareTensors(const HostTensor &found, const HostTensor &reference,
                                std::optional<double> quantum = std::nullopt);

} // namespace autotune
