// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Session: resolve once, then only call.
#include "runtime/deploy/Session.h"

#include "runtime/deploy/MemoryLimit.h"
#include "runtime/deploy/RuntimeError.h"

#include <algorithm>
#include <chrono>
#include <string>

namespace autotune::deploy {

namespace {

constexpr int kMaxThreads = 4096; // a typing mistake, not a machine

int checkThreads(const Model &model, int threads) {
  if (threads < 0 || threads > kMaxThreads)
    throw RuntimeError(AUTOTUNE_ERROR_ARGUMENT,
                       std::to_string(threads) + " threads, expected 0 to " + std::to_string(kMaxThreads));
  return threads == 0 ? model.manifest().threads : threads;
}

size_t largestArena(const Manifest &manifest) {
  size_t bytes = 0;
  for (const ProfileSpec &profile : manifest.profiles)
    bytes = std::max(bytes, profile.arenaBytes);
  return bytes;
}

/// Scratch memory of the step that takes most; of a parallel step, each thread takes it.
uint64_t largestScratch(const Manifest &manifest, int threads) {
  uint64_t bytes = 0;
  for (const ProfileSpec &profile : manifest.profiles)
    for (const StepSpec &step : profile.steps)
      bytes = std::max(bytes, uint64_t(manifest.kernels[step.kernel].scratchBytes) *
                                  (step.parallel ? uint64_t(threads) : 1));
  return bytes;
}

/// Before anything is allocated: pages come when they are first written, and then it is too late for an
/// error.
MappedMemory allocateArena(const Model &model, int threads) {
  size_t arena = largestArena(model.manifest());
  MemoryNeed need{arena + largestScratch(model.manifest(), threads), 0};
  if (std::string shortage = explainMemoryShortage(need, memoryLimit()); !shortage.empty())
    throw RuntimeError(AUTOTUNE_ERROR_MEMORY, "the model " + shortage);
  return MappedMemory::anonymous(arena);
}

template <typename Buffer>
void checkBuffers(const char *what, std::span<Buffer> buffers, const std::vector<TensorSpec> &tensors) {
  if (buffers.size() != tensors.size())
    throw RuntimeError(AUTOTUNE_ERROR_ARGUMENT, std::to_string(buffers.size()) + " " + what +
                                                    "s given, expected " + std::to_string(tensors.size()));
  for (size_t i = 0; i < buffers.size(); ++i)
    if (!buffers[i] && tensors[i].bytes > 0)
      throw RuntimeError(AUTOTUNE_ERROR_ARGUMENT, std::string(what) + " " + std::to_string(i) + " ('" +
                                                      tensors[i].name + "') is a null pointer");
}

int64_t nowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

} // namespace

Session::Session(std::shared_ptr<const Model> model, int threads)
    : owner(std::move(model)), arena(allocateArena(*owner, checkThreads(*owner, threads))),
      team(checkThreads(*owner, threads), owner->manifest().denormals) {
  for (const ProfileSpec &profile : owner->manifest().profiles)
    plans.push_back(makePlan(profile));
}

Session::Plan Session::makePlan(const ProfileSpec &profile) const {
  Plan plan;
  size_t argCount = 0;
  for (const StepSpec &step : profile.steps)
    argCount += step.args.size();
  plan.args.resize(argCount); // never again: steps point into it
  plan.boundInputs.resize(profile.inputs.size());
  plan.boundOutputs.resize(profile.outputs.size());
  size_t slot = 0;
  for (const StepSpec &step : profile.steps) {
    plan.sharesSteps |= step.parallel && step.chunks > 1;
    plan.steps.push_back({owner->kernel(step.kernel), plan.args.data() + slot, step.chunks, step.parallel});
    for (const StepArg &arg : step.args) {
      switch (arg.place) {
      case ArgPlace::Input:
        plan.inputPatches.push_back({slot, arg.index, arg.offset});
        break;
      case ArgPlace::Output:
        plan.outputPatches.push_back({slot, arg.index, arg.offset});
        break;
      case ArgPlace::Arena:
        plan.args[slot] = arena.data() + arg.offset;
        break;
      case ArgPlace::Constant:
        // Kernels only read constants; the mapping is read only, so a kernel that writes is caught by the
        // hardware.
        plan.args[slot] = const_cast<std::byte *>(owner->constants()) + arg.offset;
        break;
      }
      ++slot;
    }
  }
  return plan;
}

void Session::bind(Plan &plan, const ProfileSpec &profile, std::span<const void *const> inputs,
                   std::span<void *const> outputs) {
  checkBuffers("input", inputs, profile.inputs);
  checkBuffers("output", outputs, profile.outputs);
  if (!std::equal(inputs.begin(), inputs.end(), plan.boundInputs.begin())) {
    std::copy(inputs.begin(), inputs.end(), plan.boundInputs.begin());
    for (const Patch &patch : plan.inputPatches)
      plan.args[patch.slot] =
          const_cast<std::byte *>(static_cast<const std::byte *>(inputs[patch.buffer]) + patch.offset);
  }
  if (!std::equal(outputs.begin(), outputs.end(), plan.boundOutputs.begin())) {
    std::copy(outputs.begin(), outputs.end(), plan.boundOutputs.begin());
    for (const Patch &patch : plan.outputPatches)
      plan.args[patch.slot] = static_cast<std::byte *>(outputs[patch.buffer]) + patch.offset;
  }
}

inline void Session::execute(const Step &step) {
  if (step.parallel)
    team.dispatch(step.kernel, step.args, step.chunks);
  else
    step.kernel(step.args, 0, step.chunks);
}

void Session::run(size_t profile, std::span<const void *const> inputs, std::span<void *const> outputs,
                  std::span<int64_t> stepNs) {
  const ProfileSpec &spec = owner->profile(profile);
  Plan &plan = plans[profile];
  bind(plan, spec, inputs, outputs);
  auto runAll = [&](auto &&body) { plan.sharesSteps ? team.run(body) : team.runAlone(body); };
  if (stepNs.empty()) {
    runAll([&] {
      for (const Step &step : plan.steps)
        execute(step);
    });
    return;
  }
  if (stepNs.size() != plan.steps.size())
    throw RuntimeError(AUTOTUNE_ERROR_ARGUMENT, "room for the times of " + std::to_string(stepNs.size()) +
                                                    " steps, expected " + std::to_string(plan.steps.size()));
  runAll([&] {
    int64_t before = nowNs();
    for (size_t s = 0; s < plan.steps.size(); ++s) {
      execute(plan.steps[s]);
      int64_t after = nowNs();
      stepNs[s] = after - before;
      before = after;
    }
  });
}

} // namespace autotune::deploy
