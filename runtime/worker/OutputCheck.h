// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decides whether a candidate's output is as good as the reference's.
#pragma once

#include "runtime/worker/Protocol.h"
#include "schedule/Workload.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace autotune::worker {

/// How outputs of `workload` are compared. Data movement and integers: bit equal.
CheckPolicy checkPolicyFor(const Workload &workload);

/// "bit-equal", "elementwise", "reduction", "contraction": the standard's name in records.
std::string standardName(const CheckPolicy &policy);

struct OutputComparison {
  std::optional<std::string> mismatch; // what is wrong
  CheckMetrics metrics;
};

/// Compares two outputs of the same kernel on the same inputs.
///
/// Both sides are computed in the dtype's own precision in some order of operations, so neither is exact.
/// With ε the unit of the output's dtype, K = `reductionSize` and s the largest |reference| of the output,
/// the allowed error is
///   exact        0: the same bits
///   elementwise  4 ε |reference| + ε s   (4 ULP; the second term for cancellation after a fused
///   multiply-add) contraction  32 ε √K s               (rounding of K products in random order; s ≈ √K for
///   inputs of ±1) reduction    max(1e-5, 32 ε √K) s    (sums, norms, softmax: relative to the scale)
/// A NaN or infinity of the reference must be the same in the candidate. Integers are bit equal under every
/// policy.
OutputComparison compareOutputs(const CheckPolicy &policy, const std::string &dtype,
                                std::span<const std::byte> reference, std::span<const std::byte> candidate);

} // namespace autotune::worker
