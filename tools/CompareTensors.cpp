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
constexpr double kMaxHalfError = 1e-2;
constexpr double kMaxBeyondQuantum = 1e-2;
// Differences of floats that stand for neighbouring integers are one quantum up to rounding.
constexpr double kQuantumSlack = 1e-3;

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

int64_t greatestOf(const ConstantTensor &tensor) {
  int64_t greatest = 0;
  for (int64_t i = 1; i < tensor.size(); ++i)
    if (tensor.floatAt(i) > tensor.floatAt(greatest))
      greatest = i;
  return greatest;
}

/// The first greatest element of one is a greatest element of the other.
bool haveSameGreatest(const ConstantTensor &found, const ConstantTensor &reference) {
  int64_t x = greatestOf(found), y = greatestOf(reference);
  return reference.floatAt(x) == reference.floatAt(y) || found.floatAt(x) == found.floatAt(y);
}

/// Fills in the errors; false if NaN and infinity are not at the same places.
bool measureFloats(const ConstantTensor &found, const ConstantTensor &reference, TensorComparison &result) {
  Sums sums;
  for (int64_t i = 0; i < found.size(); ++i) {
    double x = found.floatAt(i), y = reference.floatAt(i);
    if (specialClass(x) != specialClass(y)) {
      result.reason = llvm::formatv("element {0}: found {1:e6}, expected {2:e6}", i, x, y);
      return false;
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
  return true;
}

void judgeFloats(ElementType type, TensorComparison &result) {
  bool isHalf = type == ElementType::F16 || type == ElementType::BF16;
  double limit = isHalf ? kMaxHalfError : kMaxRelativeError;
  if (!isHalf && !(result.cosine > kMinCosine))
    result.reason = llvm::formatv("cosine {0:f6}, expected more than {1:f4}", result.cosine, kMinCosine);
  else if (!(result.relativeError < limit))
    result.reason = llvm::formatv("max error {0:e} is {1:e} of the range, expected less than {2:e}", result.maxError,
                                  result.relativeError, limit);
}

void judgeQuantized(const ConstantTensor &found, const ConstantTensor &reference, double quantum,
                    TensorComparison &result) {
  if (found.size() == 0)
    return;
  int64_t beyond = 0;
  for (int64_t i = 0; i < found.size(); ++i)
    beyond += std::abs(found.floatAt(i) - reference.floatAt(i)) > quantum * (1 + kQuantumSlack);
  result.beyondQuantum = static_cast<double>(beyond) / static_cast<double>(found.size());
  if (result.beyondQuantum > kMaxBeyondQuantum)
    result.reason = llvm::formatv("{0} of {1} elements differ by more than one quantum ({2:e}), expected at most 1 %", beyond,
                                  found.size(), quantum);
  else if (!haveSameGreatest(found, reference))
    result.reason = llvm::formatv("the greatest element is number {0}, expected {1}", greatestOf(found),
                                  greatestOf(reference));
}

} // namespace

TensorComparison compareTensors(const HostTensor &found, const HostTensor &reference,
                                std::optional<double> quantum) {
  TensorComparison result;
  std::optional<ElementType> type = elementTypeFromSpelling(reference.dtype);
  if (!type || found.dtype != reference.dtype || found.shape != reference.shape) {
    result.reason = "found " + typeText(found) + ", expected " + typeText(reference);
    return result;
  }
  ConstantTensor x = ConstantTensor::view(*type, found.shape, found.bytes);
  ConstantTensor y = ConstantTensor::view(*type, reference.shape, reference.bytes);
  bool isByte = *type == ElementType::I8 || *type == ElementType::U8;
  if (isFloat(*type) || isByte) {
    // Bytes are measured as numbers too: the errors are worth telling.
    if (measureFloats(x, y, result) && (quantum || isByte))
      judgeQuantized(x, y, isByte ? 1 : *quantum, result);
    else if (result.reason.empty())
      judgeFloats(*type, result);
  } else {
    result.reason = firstDifference(x, y);
  }
  result.passed = result.reason.empty();
  return result;
}

} // namespace autotune
