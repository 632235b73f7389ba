// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/CompareTensors.h"

#include "frontend/ConstantTensor.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace autotune {
namespace {

constexpr double kMinCosine = 0.9999;
constexpr double kMaxRelativeError = 1e-3;

std::string typeText(const HostTensor &tensor) {
  std::string text;
  for (int64_t extent : tensor.shape)
    text += std::to_string(extent) + "x";
  return text + tensor.dtype;
}

std::string firstDifference(const ConstantTensor &found, const ConstantTensor &reference) {
  for (int64_t i = 0; i < found.size(); ++i)
    if (found.intAt(i) != reference.intAt(i))
      return llvm::formatv("element {0}: found {1}, expected {2}", i, found.intAt(i), reference.intAt(i));
  return "";
}

/// Sums over the elements that are finite in both.
struct Sums {
  double products = 0, found = 0, reference = 0; // x·y, x·x, y·y
  double low = std::numeric_limits<double>::infinity(), high = -low;
  double maxError = 0;
};

/// What is special about a value: NaN and the two infinities must match exactly.
int specialClass(double value) {
  return std::isnan(value) ? 2 : std::isinf(value) ? (value > 0 ? 1 : -1) : 0;
}

void compareFloats(const ConstantTensor &found, const ConstantTensor &reference, TensorComparison &result) {
  Sums sums;
  for (int64_t i = 0; i < found.size(); ++i) {
    double x = found.floatAt(i), y = reference.floatAt(i);
    if (specialClass(x) != specialClass(y)) {
      result.reason = llvm::formatv("element {0}: found {1:e6}, expected {2:e6}", i, x, y);
      return;
    }
    if (specialClass(x) != 0)
      continue;
    sums.products += x * y;
    sums.found += x * x;
    sums.reference += y * y;
    sums.low = std::min(sums.low, y);
    sums.high = std::max(sums.high, y);
    sums.maxError = std::max(sums.maxError, std::abs(x - y));
  }
  double norm = std::sqrt(sums.found) * std::sqrt(sums.reference);
  result.cosine = norm > 0 ? sums.products / norm : sums.maxError == 0 ? 1 : 0;
  result.maxError = sums.maxError;
  // A constant output has no range: its own size stands for it.
  double range = sums.high > sums.low ? sums.high - sums.low
                                      : std::max(std::abs(sums.low), std::numeric_limits<double>::min());
  result.relativeError = sums.maxError == 0 ? 0 : sums.maxError / range;
  if (!(result.cosine > kMinCosine))
    result.reason = llvm::formatv("cosine {0:f6}, expected more than {1:f4}", result.cosine, kMinCosine);
  else if (!(result.relativeError < kMaxRelativeError))
    result.reason = llvm::formatv("max error {0:e} is {1:e} of the range, expected less than {2:e}",
                                  result.maxError, result.relativeError, kMaxRelativeError);
}

} // namespace

TensorComparison compareTensors(const HostTensor &found, const HostTensor &reference) {
  TensorComparison result;
  std::optional<ElementType> type = elementTypeFromSpelling(reference.dtype);
  if (!type || found.dtype != reference.dtype || found.shape != reference.shape) {
    result.reason = "found " + typeText(found) + ", expected " + typeText(reference);
    return result;
  }
  ConstantTensor x = ConstantTensor::view(*type, found.shape, found.bytes);
  ConstantTensor y = ConstantTensor::view(*type, reference.shape, reference.bytes);
  if (isFloat(*type))
    compareFloats(x, y, result);
  else
    result.reason = firstDifference(x, y);
  result.passed = result.reason.empty();
  return result;
}

} // namespace autotune
