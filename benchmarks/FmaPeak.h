// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The most f32 arithmetic that one core does in a second: independent fused multiply-adds on registers.
#pragma once

#include "schedule/Device.h"

namespace autotune::benchmarks {

/// One sample of about two milliseconds, in GFLOP/s. The machine must have `isa`.
double sampleFmaPeak(Isa isa);

} // namespace autotune::benchmarks
