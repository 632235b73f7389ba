// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a model: owns the arena and the threads, and the steps with every address already resolved.
#pragma once

#include "runtime/deploy/MappedMemory.h"
#include "runtime/deploy/Model.h"
#include "runtime/deploy/ThreadTeam.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace autotune::deploy {

/// One inference at a time. A run allocates nothing (beyond what oneTBB's enqueue keeps in its own pools) and
/// interprets nothing: it walks a flat array of calls.
class Session {
public:
  /// `threads` 0: as many as the model was compiled for. Throws RuntimeError.
  Session(std::shared_ptr<const Model> model, int threads);

  const Model &model() const { return *owner; }
  int threads() const { return team.threads(); }

  /// Buffers as in autotune_session_run. `stepNs` is empty or has one place for each step. Throws
  /// RuntimeError.
  void run(size_t profile, std::span<const void *const> inputs, std::span<void *const> outputs,
           std::span<int64_t> stepNs = {});

private:
  struct Step {
    AutotuneKernel kernel;
    void *const *args; // into Plan::args
    int64_t chunks;
    bool parallel;
  };
  /// An argument that is an input or output: set when the caller's buffer changes.
  struct Patch {
    size_t slot; // in Plan::args
    size_t buffer;
    size_t offset;
  };
  struct Plan {
    std::vector<Step> steps;
    bool sharesSteps = false; // some step has work for several threads
    std::vector<void *> args;
    std::vector<Patch> inputPatches, outputPatches;
    std::vector<const void *> boundInputs;
    std::vector<void *> boundOutputs;
  };

  Plan makePlan(const ProfileSpec &profile) const;
  static void bind(Plan &plan, const ProfileSpec &profile, std::span<const void *const> inputs,
                   std::span<void *const> outputs);
  void execute(const Step &step);

  std::shared_ptr<const Model> owner;
  MappedMemory arena;
  ThreadTeam team;
  std::vector<Plan> plans; // one a profile
};

} // namespace autotune::deploy
