// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A team of threads that share the chunks of one step after another; the measuring worker and the session use
// the same.
#pragma once

#include "runtime/deploy/Artifact.h"
#include "runtime/deploy/FloatMode.h"

#include <cstdint>
#include <memory>
#include <type_traits>

namespace autotune::deploy {

/// The caller of `run` and up to `threads - 1` helpers from oneTBB.
///
/// Helpers join when they get a processor and leave when `run` ends. Chunks are claimed from one atomic
/// counter, so the caller alone completes every step if no helper comes: nothing here waits for a thread to
/// start. One `run` at a time; different teams are independent of each other.
class ThreadTeam {
public:
  /// `threads` >= 1; cut down to what oneTBB allows, by default one a processor. A team of one never touches
  /// oneTBB. All threads compute in the same floating-point mode.
  explicit ThreadTeam(int threads, Denormals denormals = Denormals::Flushed);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam &) = delete;
  ThreadTeam &operator=(const ThreadTeam &) = delete;

  int threads() const { return threadCount; }

  /// Calls `body` on this thread, with helpers invited. What `body` throws comes out.
  template <typename Body> void run(Body &&body) {
    runErased([](void *context) { (*static_cast<std::remove_reference_t<Body> *>(context))(); }, &body);
  }

  /// The same without helpers, for a body that dispatches nothing they could share: nobody is woken.
  template <typename Body> void runAlone(Body &&body) {
    FloatMode mode(denormals);
    body();
  }

  /// Computes chunks [0, chunks) of `kernel` and returns when all are done. Only from inside `run` or
  /// `runAlone`, from its thread.
  void dispatch(AutotuneKernel kernel, void *const *args, int64_t chunks) {
    if (threadCount == 1 || chunks <= 1)
      kernel(args, 0, chunks);
    else
      dispatchShared(kernel, args, chunks);
  }

private:
  struct Shared;
  void runErased(void (*body)(void *), void *context);
  void invite();
  void dispatchShared(AutotuneKernel kernel, void *const *args, int64_t chunks);

  int threadCount;
  Denormals denormals;
  struct Arena;
  std::unique_ptr<Arena> arena;
  // Helpers hold it too: one that oneTBB starts late may outlive the team.
  std::shared_ptr<Shared> shared;
};

} // namespace autotune::deploy
