// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/RegionPlanner.h"

#include "passes/ExtractRegion.h"
#include "tuner/DefaultPartition.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

namespace autotune {

// What a prediction must win by before it is believed.
static constexpr double kClearlyCheaper = 1.1;

/// The model's partition with `chain` in a layout, without the operators outside `region`.
Partition RegionPlanner::partition(const LayoutChain &chain, const Region &region,
                                   const RegionChoice &choice) {
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

llvm::Expected<ModelPlan> RegionPlanner::plan(const LayoutChain &chain, const Region &region,
                                              const RegionChoice &choice) {
  auto main = profile.module.get().lookupSymbol<mlir::func::FuncOp>("main");
  mlir::OwningOpRef<mlir::ModuleOp> module = extractRegion(main, region.operators);
  return planModel(*module, partition(chain, region, choice), {device, target.threads, target.numerics});
}

std::optional<RegionPlanner::Price> RegionPlanner::price(const ChosenRegion &layout,
                                                         const RegionChoice &choice) {
  llvm::Expected<ModelPlan> planned = plan(layout.chain, layout.region, choice);
  if (!planned) {
    llvm::consumeError(planned.takeError());
    return std::nullopt;
  }
  Price price;
  for (const UniqueKernel &kernel : planned->kernels)
    if (kernel.workload)
      price.predictedNs += pricer.predictedNs(*kernel.workload) * double(kernel.occurrences);
    else
      price.unpriced += kernel.occurrences;
  return price;
}

RegionChoice RegionPlanner::cheapest(const ChosenRegion &layout) {
  RegionChoice best = layout.untuned;
  std::optional<Price> first = price(layout, best);
  if (!first)
    return best;
  double least = first->predictedNs / kClearlyCheaper;
  for (const RegionChoice &choice : layout.alternatives) {
    if (choice == layout.untuned)
      continue;
    std::optional<Price> other = price(layout, choice);
    if (!other || other->unpriced > first->unpriced || other->predictedNs >= least)
      continue;
    least = other->predictedNs;
    best = choice;
  }
  return best;
}

} // namespace autotune
