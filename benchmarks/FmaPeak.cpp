// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fused multiply-adds in twelve chains: two units times four or five cycles of latency are covered, and the
// chains fit the registers of either instruction set.
#include "benchmarks/FmaPeak.h"

#include "benchmarks/ThreadClock.h"

#include <immintrin.h>

namespace autotune::benchmarks {
namespace {

constexpr int kChains = 12;
constexpr int64_t kRounds = 1 << 18;

// The empty asm statements keep the compiler from computing the loops itself and from dropping their results.
__attribute__((target("avx2,fma"))) void multiplyAddAvx2(int64_t rounds) {
  __m256 sums[kChains];
  for (__m256 &sum : sums)
    sum = _mm256_setzero_ps();
  __m256 factor = _mm256_set1_ps(0.5f), term = _mm256_set1_ps(0.25f);
  for (int64_t i = 0; i < rounds; ++i) {
    asm volatile("" : "+x"(factor), "+x"(term));
#pragma GCC unroll 12
    for (__m256 &sum : sums)
      sum = _mm256_fmadd_ps(sum, factor, term);
  }
  for (__m256 &sum : sums)
    asm volatile("" : : "x"(sum));
}

__attribute__((target("avx512f"))) void multiplyAddAvx512(int64_t rounds) {
  __m512 sums[kChains];
  for (__m512 &sum : sums)
    sum = _mm512_setzero_ps();
  __m512 factor = _mm512_set1_ps(0.5f), term = _mm512_set1_ps(0.25f);
  for (int64_t i = 0; i < rounds; ++i) {
    asm volatile("" : "+v"(factor), "+v"(term));
#pragma GCC unroll 12
    for (__m512 &sum : sums)
      sum = _mm512_fmadd_ps(sum, factor, term);
  }
  for (__m512 &sum : sums)
    asm volatile("" : : "v"(sum));
}

} // namespace

double sampleFmaPeak(Isa isa) {
  int64_t start = threadNs();
  if (isa == Isa::Avx512)
    multiplyAddAvx512(kRounds);
  else
    multiplyAddAvx2(kRounds);
  auto ns = double(threadNs() - start);
  int lanes = isa == Isa::Avx512 ? 16 : 8;
  return 2.0 * double(kRounds) * kChains * lanes / ns;
}

} // namespace autotune::benchmarks
