// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/worker/CandidateRunner.h"

#include "runtime/worker/OutputCheck.h"
#include "schedule/Errors.h"

#include <dlfcn.h>

namespace autotune::worker {

/// A candidate's shared library while it is needed.
struct CandidateRunner::Library {
  static llvm::Expected<Library> load(const BuiltKernel &built) {
    Library library;
    library.handle.reset(dlopen(built.path.c_str(), RTLD_NOW | RTLD_LOCAL));
    if (!library.handle)
      return makeError("{0}", dlerror());
    void *symbol = dlsym(library.handle.get(), built.symbol.c_str());
    if (!symbol)
      return makeError("{0}: no symbol '{1}'", built.path, built.symbol);
    library.kernel = {reinterpret_cast<AutotuneKernel>(symbol), built.chunks};
    return library;
  }

  struct Closer {
    void operator()(void *handle) const { dlclose(handle); }
  };
  std::unique_ptr<void, Closer> handle;
  LoadedKernel kernel;
};

namespace {

WorkerFailure failure(const char *stage, llvm::Error error) {
  return {stage, llvm::toString(std::move(error))};
}

WorkerFailure noTask() { return {"worker", "a candidate came before any task was prepared"}; }

} // namespace

Reply CandidateRunner::prepare(const PrepareRequest &request) {
  current.reset();
  llvm::Expected<TaskBuffers> buffers = TaskBuffers::create(request.task, memoryLimitBytes);
  if (!buffers)
    return failure("reference", buffers.takeError());
  llvm::Expected<Library> library = Library::load(request.reference);
  if (!library)
    return failure("reference", library.takeError());
  Current fresh{
      request.task, std::move(*buffers), std::make_unique<deploy::ThreadTeam>(request.task.threads), {}};
  KernelTimer(*fresh.team, fresh.buffers).runOnce(library->kernel);
  if (std::optional<size_t> output = fresh.buffers.damagedGuard())
    return WorkerFailure{"reference", "wrote outside of output " + std::to_string(*output)};
  for (size_t i = 0; i < fresh.buffers.outputCount(); ++i) {
    std::span<const std::byte> output = fresh.buffers.output(i);
    fresh.reference.emplace_back(output.begin(), output.end());
  }
  current.emplace(std::move(fresh));
  return Prepared{};
}

CandidateRunner::CheckedRun CandidateRunner::check(const LoadedKernel &kernel) {
  TaskBuffers &buffers = current->buffers;
  buffers.clearOutputs();
  CheckedRun run;
  run.runNs = KernelTimer(*current->team, buffers).runOnce(kernel);
  if (std::optional<size_t> output = buffers.damagedGuard()) {
    run.failure = WorkerFailure{"check", "wrote outside of output " + std::to_string(*output)};
    return run;
  }
  for (size_t i = 0; i < buffers.outputCount(); ++i) {
    OutputComparison comparison =
        compareOutputs(current->task.check, buffers.outputDtype(i), current->reference[i], buffers.output(i));
    if (comparison.mismatch) {
      run.failure = WorkerFailure{"check", "output " + std::to_string(i) + ": " + *comparison.mismatch};
      return run;
    }
    run.metrics.maxError = std::max(run.metrics.maxError, comparison.metrics.maxError);
    run.metrics.boundShare = std::max(run.metrics.boundShare, comparison.metrics.boundShare);
  }
  return run;
}

Reply CandidateRunner::measure(const MeasureRequest &request) {
  if (!current)
    return noTask();
  llvm::Expected<Library> library = Library::load(request.kernel);
  if (!library)
    return failure("load", library.takeError());
  CheckedRun run = check(library->kernel);
  if (run.failure)
    return *run.failure;
  // Far too slow even for a first, cold run: that one run says enough.
  if (request.limits.slowNs > 0 && run.runNs > 2 * request.limits.slowNs)
    return Timing{static_cast<double>(run.runNs), 0, 1};
  return KernelTimer(*current->team, current->buffers).time(library->kernel, request.limits);
}

Reply CandidateRunner::confirm(const ConfirmRequest &request) {
  if (!current)
    return noTask();
  llvm::Expected<Library> first = Library::load(request.first);
  if (!first)
    return failure("load", first.takeError());
  llvm::Expected<Library> second = Library::load(request.second);
  if (!second)
    return failure("load", second.takeError());
  CheckedRun firstRun = check(first->kernel);
  if (firstRun.failure)
    return *firstRun.failure;
  CheckedRun secondRun = check(second->kernel);
  if (secondRun.failure)
    return *secondRun.failure;
  PairedTiming timing =
      KernelTimer(*current->team, current->buffers).timePairs(first->kernel, second->kernel, request.pairs);
  timing.check = secondRun.metrics;
  return timing;
}

} // namespace autotune::worker
