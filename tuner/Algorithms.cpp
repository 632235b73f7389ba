// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shapes of convolutions to workloads, and workloads to prices.
#include "tuner/Algorithms.h"

#include "schedule/Algorithm.h"
#include "schedule/Space.h"
#include "tuner/ModelSearch.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <optional>

using namespace autotune;

/// The model is off by so much between kinds of kernels; below, the algorithm with fewer roundings stays.
static constexpr double kClearlyCheaper = 1.15;

static const GraphOperator *convolutionOf(const Graph &graph, const Subgraph &subgraph) {
  for (int id : subgraph.operators)
    if (graph.operators[id].minimalFiltering)
      return &graph.operators[id];
  return nullptr;
}

static const GraphTensor &filterOf(const Graph &graph, const GraphOperator &conv) {
  return graph.tensors[conv.inputs[1]]; // [O, I, 3, 3]
}

std::vector<std::string> autotune::algorithmsOf(const Graph &graph, const Subgraph &subgraph,
                                                Numerics numerics) {
  std::vector<std::string> names = {subgraph.algorithm == "view" ? "view" : "direct"};
  const GraphOperator *conv = convolutionOf(graph, subgraph);
  if (!conv || subgraph.channelBlock == 0 || numerics == Numerics::Strict)
    return names;
  const std::vector<int64_t> &filter = filterOf(graph, *conv).shape;
  if (filter[0] >= subgraph.channelBlock && filter[1] >= subgraph.channelBlock)
    names.insert(names.end(), {winogradName(2), winogradName(4)});
  return names;
}

static BlockedConvolution shapeOf(const Graph &graph, const GraphOperator &conv, int64_t block) {
  const std::vector<int64_t> &filter = filterOf(graph, conv).shape,
                             &result = graph.tensors[conv.output].shape;
  BlockedConvolution shape;
  shape.images = result[0];
  shape.outBlocks = int64_t(llvm::divideCeil(filter[0], block));
  shape.inBlocks = int64_t(llvm::divideCeil(filter[1], block));
  shape.block = block;
  shape.height = result[2];
  shape.width = result[3];
  shape.dtype = graph.tensors[conv.output].dtype;
  return shape;
}

double AlgorithmPricer::predictedNs(Workload workload) {
  workload.threads = threads;
  workload.numerics = numerics;
  auto [price, isNew] = priced.try_emplace(workload.key());
  if (isNew)
    price->second = topSchedules(workload, buildSpace(workload, device), model, 1).front().predictedNs;
  return price->second;
}

std::string AlgorithmPricer::cheapest(const Graph &graph, const Subgraph &subgraph) {
  std::vector<std::string> names = algorithmsOf(graph, subgraph, numerics);
  if (names.size() == 1)
    return names.front();
  BlockedConvolution shape = shapeOf(graph, *convolutionOf(graph, subgraph), subgraph.channelBlock);
  std::string best = names.front();
  double least = predictedNs(directConvolution(shape)) / kClearlyCheaper;
  for (const std::string &name : llvm::drop_begin(names)) {
    double price = predictedNs(winogradProducts(shape, winogradOutputs(name)));
    if (price < least) {
      least = price;
      best = name;
    }
  }
  return best;
}

void AlgorithmPricer::assign(const Graph &graph, Partition &partition) {
  for (Subgraph &subgraph : partition.subgraphs)
    subgraph.algorithm = cheapest(graph, subgraph);
}
