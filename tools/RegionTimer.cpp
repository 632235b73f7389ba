// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/RegionTimer.h"

#include "tools/RunModel.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileUtilities.h"

#include <cmath>

namespace autotune {
namespace {

/// Enough for a steady median, short enough to leave the budget to operators.
constexpr BenchmarkOptions kRegionTiming = {.minRuns = 7, .seconds = 0.08, .warmUpSeconds = 0.02};

Measurement measurementOf(std::vector<double> samples) {
  auto median = [](std::vector<double> &values) {
    llvm::sort(values);
    return values[values.size() / 2];
  };
  Measurement result;
  result.runs = int64_t(samples.size());
  result.medianNs = median(samples);
  for (double &sample : samples)
    sample = std::abs(sample - result.medianNs);
  result.spreadNs = median(samples);
  return result;
}

} // namespace

llvm::Expected<std::unique_ptr<BenchmarkRun>>
RegionTimer::build(const LayoutChain &chain, const Region &region, const RegionChoice &choice) {
  llvm::Expected<ModelPlan> plan = planner.plan(chain, region, choice);
  if (!plan)
    return plan.takeError();
  std::string path =
      folder + "/" + region.key() + "_" + std::to_string(choice.channelBlock) + choice.algorithm + ".so";
  llvm::FileRemover remover(path);
  ChooseSchedule choose = [&](const Workload &workload) -> llvm::Expected<Schedule> {
    return untuned.resolver().schedule(workload).schedule;
  };
  if (llvm::Error error = compiler.compile(
          {&*plan}, choose,
          {region.name, AUTOTUNE_VERSION, untuned.device(), target.threads, target.keepDenormals()}, path))
    return error;
  llvm::Expected<std::shared_ptr<const deploy::Model>> model = loadCompiledModel(path);
  if (!model)
    return model.takeError();
  std::unique_ptr<BenchmarkRun> run;
  if (llvm::Error error =
          catchRuntimeErrors([&] { run = std::make_unique<BenchmarkRun>(*model, 0, target.threads); }))
    return error;
  return run;
}

Outcome RegionTimer::measure(const LayoutChain &chain, const Region &region, const RegionChoice &choice) {
  auto [entry, isNew] = programs.try_emplace({region.key(), choice});
  if (isNew) {
    llvm::Expected<std::unique_ptr<BenchmarkRun>> program = build(chain, region, choice);
    if (!program) {
      programs.erase(entry);
      return Failure{"compile", llvm::toString(program.takeError())};
    }
    entry->second = std::move(*program);
  }
  return measurementOf(timeInterleaved({entry->second.get()}, kRegionTiming).front());
}

} // namespace autotune
