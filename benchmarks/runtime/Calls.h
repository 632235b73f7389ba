// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What calls of the C API cost. A failing call throws std::runtime_error with the library's text.
#pragma once

#include "runtime/deploy/autotune_runtime.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace autotune::benchmarks {

using LoadedModel = std::unique_ptr<autotune_model, decltype(&autotune_model_free)>;
LoadedModel loadModel(const std::string &path);

/// A session over the first profile, with buffers that hold small numbers.
class ModelCalls {
public:
  ModelCalls(autotune_model *model, int threads);

  void run() { runOn(0); }
  /// On the other of two sets of buffers each time: all addresses are new to the session.
  void runOnOtherBuffers() { runOn(turn ^= 1); }
  /// Inputs copied in before and outputs out after, as programs do that keep tensors elsewhere.
  void runWithCopies();
  const std::vector<float> &output() const { return buffers[0].outputs.front(); }
  int threads() const { return autotune_session_threads(session.get()); }

private:
  struct Buffers {
    std::vector<std::vector<float>> inputs, outputs;
    std::vector<const void *> inputAddresses;
    std::vector<void *> outputAddresses;
  };
  void runOn(int set);

  std::unique_ptr<autotune_session, decltype(&autotune_session_free)> session;
  Buffers buffers[2];
  std::vector<std::vector<float>> kept; // the caller's own tensors
  int turn = 0;
};

/// Nanoseconds of one call, over `calls` calls in a row, for each round.
template <typename Call> std::vector<double> callNs(int rounds, int calls, Call &&call);

/// Milliseconds from a file to a session that can run, and of the first run after that.
struct LoadTime {
  double loadMs = 0, firstRunMs = 0;
};
LoadTime timeLoad(const std::string &path, int threads);

/// Runs of one session a thread, all over one model, for `seconds`.
struct Throughput {
  double runsPerSecond = 0; // of all threads together
  double processors = 0;    // that they had on average: fewer than threads where others wanted them too
  int64_t wrongResults = 0; // that differ from what one session computes alone
};
Throughput measureThroughput(autotune_model *model, int callers, double seconds);

double steadyNs();

template <typename Call> std::vector<double> callNs(int rounds, int calls, Call &&call) {
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    call(); // finds caches and clock as the others do
    double start = steadyNs();
    for (int i = 0; i < calls; ++i)
      call();
    times.push_back((steadyNs() - start) / calls);
  }
  return times;
}

} // namespace autotune::benchmarks
