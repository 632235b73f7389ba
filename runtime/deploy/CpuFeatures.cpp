// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CpuFeatures through the compiler's cpuid helper.
#include "runtime/deploy/CpuFeatures.h"

namespace autotune::deploy {

CpuFeatures CpuFeatures::host() {
  __builtin_cpu_init();
  CpuFeatures cpu;
  cpu.avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
             __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
             __builtin_cpu_supports("f16c");
  cpu.avx512 = cpu.avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl");
  return cpu;
}

std::string explainIsaMismatch(const std::string &isa, const CpuFeatures &cpu) {
  const char *has = cpu.avx512 ? "AVX-512" : cpu.avx2 ? "AVX2" : "neither AVX2 with FMA nor AVX-512";
  if (isa == "avx2")
    return cpu.avx2 ? "" : std::string("the code needs AVX2 with FMA, this processor has ") + has;
  if (isa == "avx512")
    return cpu.avx512 ? ""
                      : std::string("the code needs AVX-512 (F, BW, CD, DQ, VL), this processor has ") + has +
                            "; compile the model with --isa avx2 or on this machine";
  return "the code is for the unknown instruction set '" + isa + "', expected avx2 or avx512";
}

} // namespace autotune::deploy
