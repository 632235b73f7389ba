// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/RegionTimer.h"

#include "passes/ExtractRegion.h"
#include "tools/RunModel.h"
#include "tuner/DefaultPartition.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileUtilities.h"

#include <cmath>
#include <set>

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

/// The model's partition with `chain` in a layout, without the operators outside `region`.
Partition RegionTimer::partition(const LayoutChain &chain, const Region &region, const RegionChoice &choice) {
  const Graph &graph = profile.graph;
  Partition whole = partitionWith(graph, {chain}, {choice.channelBlock});
  std::set<int> inside(region.operators.begin(), region.operators.end());
  Partition result;
  for (Subgraph &subgraph : whole.subgraphs) {
    llvm::erase_if(subgraph.operators, [&](int id) { return !inside.contains(id); });
    if (!subgraph.operators.empty())
      result.subgraphs.push_back(std::move(subgraph));
  }
  if (choice.algorithm.empty())
    pricer.assign(graph, result);
  else
    for (Subgraph &subgraph : result.subgraphs)
      if (llvm::is_contained(algorithmsOf(graph, subgraph, target.numerics), choice.algorithm))
        subgraph.algorithm = choice.algorithm;
  return result;
}

llvm::Expected<std::unique_ptr<BenchmarkRun>>
RegionTimer::build(const LayoutChain &chain, const Region &region, const RegionChoice &choice) {
  auto main = profile.module.get().lookupSymbol<mlir::func::FuncOp>("main");
  mlir::OwningOpRef<mlir::ModuleOp> module = extractRegion(main, region.operators);
  llvm::Expected<ModelPlan> plan = planModel(*module, partition(chain, region, choice),
                                             {untuned.device(), target.threads, target.numerics});
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
