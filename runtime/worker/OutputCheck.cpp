// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/worker/OutputCheck.h"

#include "runtime/worker/Scalars.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

namespace autotune::worker {

namespace {

// c of the contraction bound: four standard deviations of the random walk of rounding errors, on both sides,
// with room for the blocked orders of sums. A wrong index gives errors of the order of the scale, thousands
// of times more.
constexpr double kContractionFactor = 32;
constexpr double kReductionTolerance = 1e-5;
constexpr double kElementwiseUlps = 4;

/// error <= relative * |reference| + absolute
struct Bound {
  double relative = 0;
  double absolute = 0;
};

double largestFinite(const ScalarType &type, std::span<const std::byte> data) {
  double largest = 0;
  for (size_t at = 0; at < data.size(); at += type.bytes) {
    double value = std::fabs(type.load(data.data() + at));
    if (std::isfinite(value))
      largest = std::max(largest, value);
  }
  return largest;
}

Bound boundFor(const CheckPolicy &policy, const ScalarType &type, double scale) {
  double walk = kContractionFactor * type.epsilon * std::sqrt(static_cast<double>(policy.reductionSize));
  switch (policy.kind) {
  case CheckKind::Exact:
    return {};
  case CheckKind::Elementwise:
    return {kElementwiseUlps * type.epsilon, type.epsilon * scale};
  case CheckKind::Contraction:
    return {0, walk * scale};
  case CheckKind::Reduction:
    return {0, std::max(kReductionTolerance, walk) * scale};
  }
  return {};
}

/// |found - expected|; infinite where a NaN or infinity is on one side only.
double errorOf(double expected, double found) {
  if (std::isnan(expected) && std::isnan(found))
    return 0;
  if (!std::isfinite(expected) || !std::isfinite(found))
    return expected == found ? 0 : std::numeric_limits<double>::infinity();
  return std::fabs(found - expected);
}

std::string numberText(double value, int digits = 9) {
  if (std::isnan(value))
    return "nan"; // its sign says nothing
  char text[40];
  std::snprintf(text, sizeof(text), "%.*g", digits, value);
  return text;
}

} // namespace

CheckPolicy checkPolicyFor(const Workload &workload) {
  CheckPolicy policy;
  for (const LoopDim &dim : workload.dims)
    if (dim.reduction)
      policy.reductionSize *= std::max<int64_t>(1, dim.extent);
  switch (workload.opClass) {
  case OpClass::Contraction:
  case OpClass::Depthwise:
    policy.kind = CheckKind::Contraction;
    break;
  case OpClass::Reduction:
  case OpClass::Normalization:
  case OpClass::Attention:
  case OpClass::Recurrence:
    policy.kind = CheckKind::Reduction;
    break;
  case OpClass::Elementwise:
    policy.kind = CheckKind::Elementwise;
    break;
  case OpClass::Movement:
    // A fused tail makes arithmetic of it.
    policy.kind = workload.epilogue.empty() ? CheckKind::Exact : CheckKind::Elementwise;
    break;
  }
  return policy;
}

std::string standardName(const CheckPolicy &policy) {
  switch (policy.kind) {
  case CheckKind::Exact:
    return "bit-equal";
  case CheckKind::Elementwise:
    return "elementwise";
  case CheckKind::Reduction:
    return "reduction";
  case CheckKind::Contraction:
    return "contraction";
  }
  return "unknown";
}

OutputComparison compareOutputs(const CheckPolicy &policy, const std::string &dtype,
                                std::span<const std::byte> reference, std::span<const std::byte> candidate) {
  OutputComparison result;
  if (reference.size() != candidate.size()) {
    result.mismatch =
        std::to_string(candidate.size()) + " bytes, expected " + std::to_string(reference.size());
    return result;
  }
  if (std::memcmp(reference.data(), candidate.data(), reference.size()) == 0)
    return result;
  std::optional<ScalarType> type = scalarType(dtype);
  if (!type || reference.size() % type->bytes != 0) {
    result.mismatch = "differs, and elements of type '" + dtype + "' cannot be compared";
    return result;
  }
  bool exact = policy.kind == CheckKind::Exact || type->scalarClass != ScalarClass::Float;
  Bound bound = exact ? Bound() : boundFor(policy, *type, largestFinite(*type, reference));
  size_t wrong = 0;
  for (size_t at = 0; at < reference.size(); at += type->bytes) {
    if (std::memcmp(reference.data() + at, candidate.data() + at, type->bytes) == 0)
      continue;
    double expected = type->load(reference.data() + at), found = type->load(candidate.data() + at);
    double error = errorOf(expected, found);
    double allowed = std::isfinite(expected) ? bound.relative * std::fabs(expected) + bound.absolute : 0;
    if (!exact && error <= allowed) {
      result.metrics.include(error, allowed);
      continue;
    }
    if (wrong++ == 0)
      result.mismatch = "element " + std::to_string(at / type->bytes) + " is " + numberText(found) +
                        ", expected " + numberText(expected) + " within " + numberText(allowed, 3);
  }
  if (wrong > 0)
    result.mismatch = std::to_string(wrong) + " of " + std::to_string(reference.size() / type->bytes) +
                      " elements are wrong; " + *result.mismatch;
  return result;
}

} // namespace autotune::worker
