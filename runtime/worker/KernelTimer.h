// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times kernels the way a session runs them: same dispatcher, same kinds of memory.
#pragma once

#include "runtime/deploy/ThreadTeam.h"
#include "runtime/worker/Protocol.h"
#include "runtime/worker/TaskBuffers.h"

#include <span>

namespace autotune::worker {

/// A loaded kernel.
struct LoadedKernel {
  AutotuneKernel function = nullptr;
  int64_t chunks = 1;
};

/// A sample is the mean time of as many runs in a row as fill 50 us (one, for longer kernels).
/// One thread is timed by its own processor time: the same as wall time on an idle machine, and blind to
/// whatever else the machine does. Several threads are timed by wall time.
class KernelTimer {
public:
  KernelTimer(deploy::ThreadTeam &team, TaskBuffers &buffers) : team(team), buffers(buffers) {}

  /// One run; its time in nanoseconds.
  int64_t runOnce(const LoadedKernel &kernel);
  /// Samples until there are `minSamples` and they are stable, or the budget is used up.
  Timing time(const LoadedKernel &kernel, const TimingLimits &limits);
  /// Samples of both in turns, the order swapped from pair to pair.
  PairedTiming timePairs(const LoadedKernel &first, const LoadedKernel &second, int pairs);

private:
  int64_t nowNs() const;
  int batchFor(const LoadedKernel &kernel);
  double sample(const LoadedKernel &kernel, int batch);

  deploy::ThreadTeam &team;
  TaskBuffers &buffers;
};

/// Median and median absolute deviation. `values` is not empty; it is reordered.
Timing summarize(std::span<double> values);
/// 95 % bootstrap interval of the median of `values` (2,000 resamples, fixed seed).
std::pair<double, double> bootstrapMedian(std::span<const double> values);

} // namespace autotune::worker
