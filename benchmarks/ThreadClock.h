// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Time that the calling thread had a processor: other load on the machine does not count as ours.
#pragma once

#include <cstdint>
#include <ctime>

namespace autotune::benchmarks {

/// Nanoseconds; differences are meaningful.
inline int64_t threadNs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

} // namespace autotune::benchmarks
