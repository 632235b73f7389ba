// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a learned cost model sees of a kernel: a fixed list of numbers, versioned.
#pragma once

#include "schedule/Device.h"
#include "schedule/LoopNest.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <vector>

namespace autotune {

/// Raised with every change of meaning, order or number of the features: weights of another version do not
/// apply.
inline constexpr int kFeatureVersion = 1;

/// Names in the order of the values. Those that end in `_log2` are log2(1 + x).
llvm::ArrayRef<llvm::StringLiteral> featureNames();

/// One value for each name. Ratios and logarithms only, so that values of different sizes compare.
std::vector<float> extractFeatures(const Workload &workload, const LoopNest &nest, const Device &device);

} // namespace autotune
