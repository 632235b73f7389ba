// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which instruction sets the processor has, and whether code compiled for one of ours fits it.
#pragma once

#include <string>

namespace autotune::deploy {

struct CpuFeatures {
  bool avx2 = false;   // AVX2, FMA, BMI1, BMI2, F16C: x86-64-v3 as far as generated code uses it
  bool avx512 = false; // AVX-512 F, BW, CD, DQ, VL: x86-64-v4

  /// Of the processor that this runs on.
  static CpuFeatures host();
};

/// "" if code for `isa` ("avx2" or "avx512") runs on `cpu`; else what is found and what is expected.
std::string explainIsaMismatch(const std::string &isa, const CpuFeatures &cpu);

} // namespace autotune::deploy
