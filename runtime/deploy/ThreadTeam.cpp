// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The chunk dispatcher. One word decides everything: the number of chunks of the current step not yet
// claimed.
#include "runtime/deploy/ThreadTeam.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <immintrin.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <thread>

namespace autotune::deploy {

namespace {

// Two lines: the prefetcher of x86 processors fetches lines in pairs.
constexpr size_t kNoSharing = 128;
// About 50 us of PAUSE: longer than the serial steps between two parallel ones, shorter than a time slice.
constexpr int kSpinsBeforeYield = 2000;
constexpr auto kFarewell = std::chrono::milliseconds(20);

/// Waits politely: spins at first, since the wait is nearly always short, then lets other threads run.
class Backoff {
public:
  void pause() {
    if (spins < kSpinsBeforeYield) {
      ++spins;
      _mm_pause();
    } else {
      std::this_thread::yield();
    }
  }
  void reset() { spins = 0; }

private:
  int spins = 0;
};

} // namespace

struct ThreadTeam::Arena {
  explicit Arena(int threads) : arena(threads, /*reserved_for_masters=*/1) {}
  tbb::task_arena arena;
};

// The step in `kernel`, `args`, `chunks` is written only while `unclaimed` is 0 and every chunk of the step
// before is finished, and read only after a successful claim. A thread that was stopped anywhere outside a
// chunk therefore holds no knowledge of a step: whenever it claims, it claims from the step of that moment
// and reads that step.
struct ThreadTeam::Shared {
  Shared(int threads, Denormals denormals) : threads(threads), denormals(denormals) {}

  const int threads;
  const Denormals denormals;
  AutotuneKernel kernel = nullptr;
  void *const *args = nullptr;
  int64_t chunks = 0;
  alignas(kNoSharing) std::atomic<int64_t> unclaimed{0};
  alignas(kNoSharing) std::atomic<int64_t> unfinished{0};
  alignas(kNoSharing) std::atomic<bool> running{false};
  std::atomic<int> helpers{0}; // enqueued or at work

  /// Claims and computes a few chunks; false if none is left to claim.
  bool work() {
    int64_t left = unclaimed.load(std::memory_order_acquire);
    int64_t take;
    do {
      if (left == 0)
        return false;
      // Large bites first, single chunks at the end: few claims, neighbours stay on one core, no long tail.
      take = std::max<int64_t>(1, left / (2 * threads));
    } while (!unclaimed.compare_exchange_weak(left, left - take, std::memory_order_acq_rel,
                                              std::memory_order_acquire));
    int64_t begin = chunks - left;
    kernel(args, begin, begin + take);
    unfinished.fetch_sub(take, std::memory_order_release);
    return true;
  }

  void help() {
    FloatMode mode(denormals);
    do {
      Backoff backoff;
      while (running.load(std::memory_order_relaxed)) {
        if (work())
          backoff.reset();
        else
          backoff.pause();
      }
      helpers.fetch_sub(1);
      // The next run may have begun between the two lines above and counted this helper as present: stay.
    } while (running.load() && rejoin());
  }

  bool rejoin() {
    if (helpers.fetch_add(1) < threads - 1)
      return true;
    helpers.fetch_sub(1);
    return false;
  }
};

ThreadTeam::ThreadTeam(int threads, Denormals denormals) : threadCount(threads), denormals(denormals) {
  if (threads == 1)
    return;
  // oneTBB never starts more workers than this, and prints a warning when asked for them.
  auto available =
      static_cast<int>(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism));
  threadCount = std::max(1, std::min(threads, available));
  if (threadCount > 1) {
    arena = std::make_unique<Arena>(threadCount);
    shared = std::make_shared<Shared>(threadCount, denormals);
  }
}

// Not needed for safety (helpers own what they touch), but a team should leave no tasks in the queues of
// oneTBB. Bounded, since a helper may never get a processor.
ThreadTeam::~ThreadTeam() {
  if (!shared)
    return;
  auto end = std::chrono::steady_clock::now() + kFarewell;
  while (shared->helpers.load() > 0 && std::chrono::steady_clock::now() < end)
    std::this_thread::yield();
}

void ThreadTeam::invite() {
  for (int missing = threadCount - 1 - shared->helpers.load(); missing > 0; --missing) {
    shared->helpers.fetch_add(1);
    arena->arena.enqueue([team = shared] { team->help(); });
  }
}

void ThreadTeam::runErased(void (*body)(void *), void *context) {
  FloatMode mode(denormals);
  if (threadCount == 1)
    return body(context);
  struct Running {
    explicit Running(Shared &shared) : shared(shared) { shared.running.store(true); }
    ~Running() { shared.running.store(false); }
    Shared &shared;
  };
  arena->arena.execute([&] {
    Running running(*shared);
    invite();
    body(context);
  });
}

void ThreadTeam::dispatchShared(AutotuneKernel kernel, void *const *args, int64_t chunks) {
  Shared &step = *shared;
  step.kernel = kernel;
  step.args = args;
  step.chunks = chunks;
  step.unfinished.store(chunks, std::memory_order_relaxed);
  step.unclaimed.store(chunks, std::memory_order_release);
  while (step.work()) {
  }
  Backoff backoff;
  while (step.unfinished.load(std::memory_order_acquire) != 0)
    backoff.pause();
}

} // namespace autotune::deploy
