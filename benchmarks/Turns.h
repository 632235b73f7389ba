// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times programs in turns, so that a change of the clock or of the load meets all alike.
#pragma once

#include "benchmarks/TimedOperator.h"
#include "schedule/Device.h"

#include "llvm/ADT/ArrayRef.h"

namespace autotune::benchmarks {

/// The shortest of a few runs: other load on the machine can only take speed away.
double shortestNs(TimedOperator &side, int runs, int threads);

struct TurnOptions {
  Isa isa = Isa::Avx2;
  int threads = 1;
  int rounds = 21;
  double turnNs = 0; // length of a turn; it has one run at least
};

struct RoundSamples {
  std::vector<std::vector<double>> ns; // [side][round]: the median run of its turn
  std::vector<double> peakGflops;      // [round]: of all threads
};

/// Each round is a sample of the arithmetic peak and one turn of each side, in an order that is turned round
/// each time. A turn starts with a run that does not count. With one thread, a run during which the thread
/// lost its processor is repeated; if it always does, what it lost is taken off. So it is in `shortestNs`.
RoundSamples timeInTurns(llvm::ArrayRef<TimedOperator *> sides, const TurnOptions &options);

} // namespace autotune::benchmarks
