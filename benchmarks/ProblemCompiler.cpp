// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The project's own passes and loader; nothing is prepared for the benchmark.
#include "benchmarks/ProblemCompiler.h"

#include "cost_model/AnalyticalModel.h"
#include "passes/ExtractGraph.h"
#include "runtime/build/FirstError.h"
#include "runtime/deploy/RuntimeError.h"
#include "schedule/Errors.h"
#include "tuner/Algorithms.h"
#include "tuner/DefaultPartition.h"
#include "tuner/ModelSearch.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

namespace autotune::benchmarks {
namespace {

/// All operators that can be blocked are, also those that would not be worth it alone: their neighbours in a
/// network are blocked.
Partition partitionOf(const Graph &graph, const Problem &problem) {
  LayoutChain chain;
  for (const GraphOperator &op : graph.operators)
    if (op.layout != LayoutRole::Plain)
      chain.operators.push_back(op.id);
  Partition partition = partitionWith(graph, chain, problem.channelBlock);
  if (problem.algorithm.empty()) {
    AnalyticalModel model(problem.device);
    AlgorithmPricer(problem.device, model, problem.threads, Numerics::Default).assign(graph, partition);
    return partition;
  }
  for (Subgraph &subgraph : partition.subgraphs)
    if (llvm::is_contained(algorithmsOf(graph, subgraph, Numerics::Default), problem.algorithm))
      subgraph.algorithm = problem.algorithm;
  return partition;
}

/// The first input of later layers is computed.
std::vector<std::vector<float>> inputsOf(const std::vector<Layer> &layers) {
  std::vector<std::vector<float>> inputs = layers.front().data.inputs;
  for (const Layer &layer : llvm::drop_begin(layers))
    inputs.insert(inputs.end(), layer.data.inputs.begin() + 1, layer.data.inputs.end());
  return inputs;
}

/// Into a buffer of other height or width, in the same layout.
bool isCopyOfImage(const Workload &workload) {
  if (workload.opClass != OpClass::Movement || workload.inputs.size() != 1)
    return false;
  const OperandInfo &from = workload.inputs.front(), &to = workload.output;
  return from.index == to.index && from.shape.size() == 4 && to.shape.size() == 4 &&
         from.shape[1] == to.shape[1];
}

} // namespace

llvm::Expected<std::unique_ptr<ProblemCompiler>> ProblemCompiler::create(mlir::MLIRContext &context,
                                                                         Problem problem) {
  std::unique_ptr<ProblemCompiler> result(new ProblemCompiler(std::move(problem)));
  Problem &what = result->problem;
  {
    FirstError errors(context);
    result->module = buildModel(context, what.layers);
    if (!result->module)
      return errors.take(what.name);
  }
  Graph graph = extractGraph(result->module->lookupSymbol<mlir::func::FuncOp>("main"));
  Partition partition = partitionOf(graph, what);
  for (const Subgraph &subgraph : partition.subgraphs)
    if (subgraph.algorithm != "direct" && subgraph.algorithm != "view")
      what.name += ", " + subgraph.algorithm;
  llvm::Expected<ModelPlan> plan =
      planModel(*result->module, partition, {what.device, what.threads, Numerics::Default});
  if (!plan)
    return makeError("{0}: {1}", what.name, llvm::toString(plan.takeError()));
  result->plan = std::move(*plan);
  return result;
}

std::vector<Schedule> ProblemCompiler::best(const Workload &workload, size_t count) const {
  std::vector<Schedule> schedules;
  for (PredictedSchedule &entry :
       topSchedules(workload, buildSpace(workload, problem.device), AnalyticalModel(problem.device), count))
    schedules.push_back(std::move(entry.schedule));
  return schedules;
}

std::vector<Schedules> ProblemCompiler::choices(size_t count) const {
  std::map<std::string, std::vector<Schedule>> lists;
  size_t longest = 1;
  for (const PlanStep &step : plan.steps) {
    const std::optional<Workload> &workload = plan.kernels[step.kernel].workload;
    if (!workload || lists.contains(workload->key()))
      continue;
    std::vector<Schedule> &list = lists[workload->key()] = best(*workload, counts(step) ? count : 1);
    longest = std::max(longest, list.size());
  }
  std::vector<Schedules> choices(longest);
  for (size_t i = 0; i < longest; ++i)
    for (const auto &[key, list] : lists)
      choices[i][key] = list[std::min(i, list.size() - 1)];
  return choices;
}

Schedules ProblemCompiler::withContractions(const Schedule &schedule) const {
  Schedules schedules = choices(1).front();
  for (const UniqueKernel &kernel : plan.kernels)
    if (kernel.workload && kernel.workload->opClass == OpClass::Contraction)
      schedules[kernel.workload->key()] = schedule;
  return schedules;
}

std::string ProblemCompiler::text(const Schedules &schedules) const {
  std::vector<std::string> texts;
  for (const PlanStep &step : plan.steps)
    if (const std::optional<Workload> &workload = plan.kernels[step.kernel].workload;
        workload && counts(step))
      if (std::string text = schedules.at(workload->key()).text(); !llvm::is_contained(texts, text))
        texts.push_back(std::move(text));
  return llvm::join(texts, "; ");
}

/// What conversions are made of comes from no operator of the model. Neither do the borders of padded buffers
/// and the copies into them where the operator reads a plain image, but a network has those too.
bool ProblemCompiler::counts(const PlanStep &step) const {
  const std::optional<Workload> &workload = plan.kernels[step.kernel].workload;
  bool isPlain = problem.channelBlock == 0;
  return isPlain || step.operatorId >= 0 || !workload || isCopyOfImage(*workload);
}

llvm::Expected<std::unique_ptr<CompiledProblem>> ProblemCompiler::compile(const Schedules &schedules,
                                                                          const std::string &path) {
  ChooseSchedule choose = [&](const Workload &workload) -> llvm::Expected<Schedule> {
    return schedules.at(workload.key());
  };
  const ModelPlan *profile = &plan;
  ArtifactInfo info{problem.name, AUTOTUNE_VERSION, problem.device, problem.threads};
  if (llvm::Error error = compiler.compile(profile, choose, info, path))
    return error;
  std::vector<bool> counted;
  for (const PlanStep &step : plan.steps)
    counted.push_back(counts(step));
  try {
    auto program = std::make_unique<CompiledProblem>(path, std::move(counted), problem.threads);
    program->setInputs(inputsOf(problem.layers));
    return program;
  } catch (const deploy::RuntimeError &error) {
    return makeError("{0}: {1}", path, error.what());
  }
}

} // namespace autotune::benchmarks
