// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/worker/OutputCheck.h"

#include "runtime/worker/Scalars.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

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

bool within(const Bound &bound, double expected, double found) {
  if (std::isnan(expected) || std::isnan(found))
    return std::isnan(expected) && std::isnan(found);
  if (std::isinf(expected) || std::isinf(found))
    return expected == found;
  return std::fabs(found - expected) <= bound.relative * std::fabs(expected) + bound.absolute;
}

std::string numberText(double value) {
  if (std::isnan(value))
    return "nan"; // its sign says nothing
  char text[40];
  std::snprintf(text, sizeof(text), "%.9g", value);
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

std::optional<std::string> findMismatch(const CheckPolicy &policy, const std::string &dtype,
                                        std::span<const std::byte> reference,
                                        std::span<const std::byte> candidate) {
  if (reference.size() != candidate.size())
    return std::to_string(candidate.size()) + " bytes, expected " + std::to_string(reference.size());
  if (std::memcmp(reference.data(), candidate.data(), reference.size()) == 0)
    return std::nullopt;
  std::optional<ScalarType> type = scalarType(dtype);
  if (!type || reference.size() % type->bytes != 0)
    return "differs, and elements of type '" + dtype + "' cannot be compared";
  bool exact = policy.kind == CheckKind::Exact || type->scalarClass != ScalarClass::Float;
  Bound bound = exact ? Bound() : boundFor(policy, *type, largestFinite(*type, reference));
  size_t wrong = 0, firstWrong = 0;
  for (size_t at = 0; at < reference.size(); at += type->bytes) {
    const std::byte *expected = reference.data() + at, *found = candidate.data() + at;
    if (std::memcmp(expected, found, type->bytes) == 0)
      continue;
    if (!exact && within(bound, type->load(expected), type->load(found)))
      continue;
    if (wrong++ == 0)
      firstWrong = at;
  }
  if (wrong == 0)
    return std::nullopt;
  double expected = type->load(reference.data() + firstWrong),
         found = type->load(candidate.data() + firstWrong);
  char text[200];
  std::snprintf(text, sizeof(text),
                "%zu of %zu elements are wrong; element %zu is %s, expected %s within %.3g", wrong,
                reference.size() / type->bytes, firstWrong / type->bytes, numberText(found).c_str(),
                numberText(expected).c_str(), bound.relative * std::fabs(expected) + bound.absolute);
  return text;
}

} // namespace autotune::worker
