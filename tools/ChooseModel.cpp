// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/ChooseModel.h"

#include "schedule/Errors.h"
#include "tools/RegionPlanner.h"
#include "tuner/Algorithms.h"
#include "tuner/DefaultPartition.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"

namespace autotune {
namespace {

llvm::Error readPartition(ChosenProfile &chosen, const std::string &file) {
  auto buffer = llvm::MemoryBuffer::getFile(file);
  if (!buffer)
    return makeError("{0}: cannot read the partition: {1}", file, buffer.getError().message());
  llvm::Expected<Partition> partition = Partition::parse((*buffer)->getBuffer());
  if (!partition)
    return makeError("{0}: {1}", file, llvm::toString(partition.takeError()));
  chosen.partition = std::move(*partition);
  return llvm::Error::success();
}

llvm::Error plan(ChosenProfile &chosen, const ImportedProfile &profile, const Device &device,
                 const ChoiceTarget &target) {
  if (llvm::Error error = chosen.partition.verify(profile.graph, target.numerics))
    return error;
  llvm::Expected<ModelPlan> plan =
      planModel(*profile.module, chosen.partition, {device, target.threads, target.numerics});
  if (!plan)
    return plan.takeError();
  chosen.plan = std::move(*plan);
  return llvm::Error::success();
}

/// Applies a model's record; false if it does not fit (any more), so that the record counts as absent.
bool applyRecord(ChosenProfile &chosen, ModelRecord record, const ImportedProfile &profile,
                 const Device &device, const ChoiceTarget &target) {
  llvm::Expected<Partition> partition = Partition::parse(record.partition);
  if (!partition) {
    llvm::consumeError(partition.takeError());
    return false;
  }
  chosen.partition = std::move(*partition);
  if (llvm::Error error = plan(chosen, profile, device, target)) {
    llvm::consumeError(std::move(error));
    return false;
  }
  for (const UniqueKernel &kernel : chosen.plan.kernels) {
    auto found = kernel.workload ? record.schedules.find(kernel.workload->key()) : record.schedules.end();
    if (found == record.schedules.end() ||
        !buildSpace(*kernel.workload, device).contains(*kernel.workload, found->second))
      continue;
    ScheduleChoice choice;
    choice.source = ChoiceSource::Exact;
    choice.trace = {"model record: " + found->second.text()};
    choice.schedule = found->second;
    chosen.schedules.emplace(found->first, std::move(choice));
  }
  chosen.record = std::move(record);
  return true;
}

} // namespace

int untunedBlock(const Device &device) { return device.vectorBytes() / int(sizeof(float)); }

std::string modelKeyText(const ImportedModel &model, size_t profile, const ChoiceTarget &target,
                         const Modes &modes) {
  std::string shapes;
  for (const GraphTensor &tensor : model.profiles[profile].graph.tensors)
    if (tensor.producer < 0 && !tensor.constant)
      shapes += " " +
                llvm::join(llvm::map_range(tensor.shape, [](int64_t d) { return std::to_string(d); }), "x") +
                "x" + tensor.dtype;
  return llvm::formatv("model {0}\ninputs{1}\nthreads {2}\nnumerics {3}\ntuned{4}{5}\n", model.content,
                       shapes, target.threads, target.numerics == Numerics::Strict ? "strict" : "default",
                       modes.subgraph ? " subgraph" : "", modes.operators ? " operator" : "");
}

/// What a record of a chain may say.
static std::vector<RegionChoice> layoutChoices() { return {{0, ""}, {8, ""}, {16, ""}, {32, ""}}; }

static void chooseAlgorithms(ChosenProfile &chosen, const Graph &graph, const Knowledge &knowledge,
                             const ChoiceTarget &target) {
  AlgorithmPricer pricer(knowledge.device(), knowledge.costModel(), target.threads, target.numerics);
  for (Subgraph &subgraph : chosen.partition.subgraphs) {
    std::vector<std::string> algorithms = algorithmsOf(graph, subgraph, target.numerics);
    if (algorithms.size() == 1)
      continue;
    Region region = convolutionRegion(graph, subgraph, target.threads, target.numerics);
    auto [entry, isNew] = chosen.algorithms.try_emplace(region.key());
    ChosenRegion &known = entry->second;
    if (isNew) {
      known.untuned = {subgraph.channelBlock, pricer.cheapest(graph, subgraph)};
      for (const std::string &algorithm : algorithms)
        known.alternatives.push_back({subgraph.channelBlock, algorithm});
      known.choice = knowledge.resolver().region(region, known.untuned, known.alternatives);
      known.region = std::move(region);
      auto chain = llvm::find_if(chosen.layouts, [&](const ChosenRegion &layout) {
        return llvm::is_contained(layout.chain.operators, subgraph.operators.front());
      });
      known.chain = chain->chain;
      known.name = graph.operators[subgraph.operators.front()].label;
    }
    for (int id : subgraph.operators)
      known.weight += graph.operators[id].flops;
    subgraph.algorithm = known.choice.region.algorithm;
  }
}

llvm::Error replan(ChosenProfile &chosen, const ImportedProfile &profile, const Knowledge &knowledge,
                   const ChoiceTarget &target) {
  std::vector<LayoutChain> chains;
  std::vector<int> blocks;
  for (const ChosenRegion &layout : chosen.layouts) {
    chains.push_back(layout.chain);
    blocks.push_back(layout.choice.region.channelBlock);
  }
  chosen.partition = partitionWith(profile.graph, chains, blocks);
  for (auto &[key, algorithm] : chosen.algorithms)
    algorithm.weight = 0;
  chooseAlgorithms(chosen, profile.graph, knowledge, target);
  return plan(chosen, profile, knowledge.device(), target);
}

void chooseSchedules(ChosenProfile &chosen, const Resolver &resolver) {
  for (const UniqueKernel &kernel : chosen.plan.kernels)
    if (kernel.workload && !chosen.schedules.contains(kernel.workload->key()))
      chosen.schedules.emplace(kernel.workload->key(), resolver.schedule(*kernel.workload));
}

/// The record of the run that tuned most, if there is one that fits.
static void applyBestRecord(ChosenProfile &chosen, const ImportedModel &model, size_t index,
                            Knowledge &knowledge, const ChoiceTarget &target) {
  for (const Modes &modes : {Modes{true, true}, Modes{false, true}, Modes{true, false}}) {
    std::optional<ModelRecord> record =
        knowledge.findModel(model.name, modelKeyText(model, index, target, modes));
    if (!record ||
        !applyRecord(chosen, std::move(*record), model.profiles[index], knowledge.device(), target))
      continue;
    chosen.recordModes = modes;
    return;
  }
}

/// By the records of the chains, else by the cost model, which is not asked where the model's record decided.
static void chooseLayouts(ChosenProfile &chosen, const ImportedProfile &profile, const Knowledge &knowledge,
                          const ChoiceTarget &target) {
  RegionPlanner planner(profile, knowledge, target);
  for (ChosenRegion &layout : chosen.layouts) {
    if (!chosen.record)
      layout.untuned = planner.cheapest(layout);
    layout.choice = knowledge.resolver().region(layout.region, layout.untuned, layoutChoices());
  }
}

llvm::Expected<ChosenProfile> chooseProfile(const ImportedModel &model, size_t index, Knowledge &knowledge,
                                            const ChoiceTarget &target) {
  const ImportedProfile &profile = model.profiles[index];
  const Device &device = knowledge.device();
  ChosenProfile chosen;
  if (!target.partitionFile.empty()) {
    if (llvm::Error error = readPartition(chosen, target.partitionFile))
      return error;
    if (llvm::Error error = plan(chosen, profile, device, target))
      return makeError("{0}: {1}", target.partitionFile, llvm::toString(std::move(error)));
    chooseSchedules(chosen, knowledge.resolver());
    return chosen;
  }
  for (const LayoutChain &chain : layoutChains(profile.graph)) {
    ChosenRegion &layout = chosen.layouts.emplace_back();
    layout.chain = chain;
    layout.region = chainRegion(profile.graph, chain, target.threads, target.numerics);
    layout.name = layout.region.name + " of " + std::to_string(chain.operators.size()) + " operators";
    layout.weight = double(chain.operators.size());
    layout.untuned = {untunedBlock(device), ""};
    layout.alternatives = {{0, ""}, {8, ""}, {16, ""}};
  }
  if (target.useModelRecord)
    applyBestRecord(chosen, model, index, knowledge, target);
  chooseLayouts(chosen, profile, knowledge, target);
  if (!chosen.record) {
    if (llvm::Error error = replan(chosen, profile, knowledge, target))
      return makeError("{0}: {1}", model.path, llvm::toString(std::move(error)));
  }
  chooseSchedules(chosen, knowledge.resolver());
  return chosen;
}

LookupCounts ChosenProfile::lookup() const {
  LookupCounts counts;
  for (const auto &[key, choice] : schedules) {
    counts.stale += choice.stale;
    switch (choice.source) {
    case ChoiceSource::Exact:
    case ChoiceSource::Builtin:
      ++counts.exact;
      break;
    case ChoiceSource::Near:
      ++counts.near;
      break;
    case ChoiceSource::Model:
      ++counts.model;
      break;
    case ChoiceSource::Default:
      ++counts.byDefault;
      break;
    }
  }
  return counts;
}

bool ChosenProfile::isAllHits() const {
  bool schedulesHit = llvm::all_of(schedules, [](const auto &entry) { return entry.second.isHit(); });
  return schedulesHit && (record || missedRegions() == 0);
}

size_t ChosenProfile::missedRegions() const {
  auto isMiss = [](const auto &decided) { return !decided.choice.isHit(); };
  return size_t(llvm::count_if(layouts, isMiss)) +
         size_t(llvm::count_if(llvm::make_second_range(algorithms), isMiss));
}

std::map<std::string, std::string> scheduleSources(const ScheduleTable &table) {
  std::map<std::string, std::string> sources;
  for (const auto &[key, choice] : table)
    sources[key] = choiceSourceName(choice.source).str() + (choice.stale ? ", stale" : "");
  return sources;
}

ChooseSchedule scheduleLookup(const ScheduleTable &table) {
  return [&table](const Workload &workload) -> llvm::Expected<Schedule> {
    auto found = table.find(workload.key());
    if (found == table.end())
      return makeError("workload {0} has no schedule", workload.key());
    return found->second.schedule;
  };
}

} // namespace autotune
