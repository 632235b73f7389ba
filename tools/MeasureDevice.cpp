// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/MeasureDevice.h"

#include "runtime/deploy/ThreadTeam.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <immintrin.h>
#include <memory>
#include <vector>

namespace autotune {
namespace {

/// Vectors in flight: more than two units times four cycles of latency, and few enough to stay in registers.
constexpr int kChains = 12;
constexpr int kRepeats = 12;

// The asm statements keep the compiler from folding a loop whose result is known or unused.
__attribute__((target("avx2,fma"))) void fmaAvx2(int64_t rounds) {
  __m256 sums[kChains];
  for (__m256 &sum : sums)
    sum = _mm256_setzero_ps();
  __m256 factor = _mm256_set1_ps(0.5f);
  for (int64_t i = 0; i < rounds; ++i) {
    asm volatile("" : "+x"(factor));
#pragma GCC unroll 12
    for (__m256 &sum : sums)
      sum = _mm256_fmadd_ps(sum, factor, factor);
  }
  for (__m256 &sum : sums)
    asm volatile("" : : "x"(sum));
}

__attribute__((target("avx512f"))) void fmaAvx512(int64_t rounds) {
  __m512 sums[kChains];
  for (__m512 &sum : sums)
    sum = _mm512_setzero_ps();
  __m512 factor = _mm512_set1_ps(0.5f);
  for (int64_t i = 0; i < rounds; ++i) {
    asm volatile("" : "+v"(factor));
#pragma GCC unroll 12
    for (__m512 &sum : sums)
      sum = _mm512_fmadd_ps(sum, factor, factor);
  }
  for (__m512 &sum : sums)
    asm volatile("" : : "v"(sum));
}

__attribute__((target("avx2"))) void readAvx2(const char *data, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += 256) {
#pragma GCC unroll 8
    for (int64_t j = 0; j < 256; j += 32) {
      __m256i value = _mm256_load_si256(reinterpret_cast<const __m256i *>(data + i + j));
      asm volatile("" : : "x"(value));
    }
  }
}

__attribute__((target("avx512f"))) void readAvx512(const char *data, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += 512) {
#pragma GCC unroll 8
    for (int64_t j = 0; j < 512; j += 64) {
      __m512i value = _mm512_load_si512(data + i + j);
      asm volatile("" : : "v"(value));
    }
  }
}

double timeNs(const std::function<void()> &work) {
  auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

/// The best of some repeats: a peak is what the machine does undisturbed.
double bestNs(const std::function<void()> &work) {
  double best = timeNs(work);
  for (int i = 1; i < kRepeats; ++i)
    best = std::min(best, timeNs(work));
  return best;
}

constexpr int64_t kFmaRounds = 300'000; // about a millisecond

void fmaLoop(Isa isa) { isa == Isa::Avx512 ? fmaAvx512(kFmaRounds) : fmaAvx2(kFmaRounds); }

double forkJoinNs(int threads) {
  constexpr int kSteps = 2000;
  deploy::ThreadTeam team(threads);
  double best = bestNs([&] {
    team.run([&] {
      for (int i = 0; i < kSteps; ++i)
        team.dispatch([](void *const *, int64_t, int64_t) {}, nullptr, threads);
    });
  });
  return best / kSteps;
}

double fmaFlops(Isa isa) { return 2.0 * kFmaRounds * kChains * (isa == Isa::Avx512 ? 16 : 8); }

} // namespace

double sampleFmaGflops(Isa isa) {
  return fmaFlops(isa) / timeNs([&] { fmaLoop(isa); });
}

double measureReadGBs(const Device &device, int64_t bytes) {
  bytes = std::max<int64_t>(bytes / 4096, 1) * 4096;
  std::unique_ptr<char, decltype(&std::free)> data(
      static_cast<char *>(std::aligned_alloc(4096, size_t(bytes))), &std::free);
  std::fill_n(data.get(), bytes, 1);
  int64_t passes = std::max<int64_t>(1, 16'000'000 / bytes);
  double ns = bestNs([&] {
    for (int64_t i = 0; i < passes; ++i)
      device.isa == Isa::Avx512 ? readAvx512(data.get(), bytes) : readAvx2(data.get(), bytes);
  });
  return double(bytes * passes) / ns;
}

DevicePeaks measurePeaks(const Device &device, int threads) {
  DevicePeaks peaks;
  peaks.fmaGflops = fmaFlops(device.isa) / bestNs([&] { fmaLoop(device.isa); });
  peaks.l1GBs = measureReadGBs(device, device.l1Bytes / 2);
  peaks.l2GBs = measureReadGBs(device, device.l2Bytes / 2);
  // Beyond the last cache, within reason on machines with hundreds of megabytes of it.
  peaks.memoryGBs = measureReadGBs(device, std::clamp<int64_t>(4 * device.l3Bytes, 64 << 20, 256 << 20));
  peaks.forkJoinNs = forkJoinNs(threads);
  return peaks;
}

DeviceNoise measureNoise(const Device &device) {
  std::vector<double> times;
  for (int i = 0; i < 200; ++i)
    times.push_back(timeNs([&] { fmaLoop(device.isa); }));
  std::sort(times.begin(), times.end());
  double median = times[times.size() / 2], p90 = times[times.size() * 9 / 10];
  for (double &time : times)
    time = std::abs(time - median);
  std::sort(times.begin(), times.end());
  return {100 * times[times.size() / 2] / median, 100 * (p90 / median - 1)};
}

} // namespace autotune
