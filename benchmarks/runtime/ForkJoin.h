// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What it costs to share a step among threads.
#pragma once

#include <vector>

namespace autotune::benchmarks {

/// A run of a team whose steps have one chunk of known length for each thread.
struct ForkJoinRun {
  /// Time of a step beyond that of one chunk; the median over the steps in which every thread computed one.
  double costNs = 0;
  bool hasCost = false;      // there was such a step
  double sharedPercent = 0;  // of the steps after the first helper came: every thread computed a chunk
  double helpersPercent = 0; // of all chunks after the first helper came: not computed by the caller
  double joinNs = 0; // from the start of the run to the end of the first step that a helper took part in
};

struct ForkJoinRound {
  ForkJoinRun afterPause; // threads that wait for work have gone to sleep
  ForkJoinRun next;       // begins when the other ends
};

/// `chunkNs`: about how long a chunk takes.
std::vector<ForkJoinRound> measureForkJoin(int threads, double chunkNs, int rounds);

} // namespace autotune::benchmarks
