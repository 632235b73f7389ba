// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Greedy fusion of elementwise tails, producers first.
#include "tuner/DefaultPartition.h"

#include "tuner/DataflowGraph.h"

#include "llvm/ADT/STLExtras.h"

#include <cassert>

using namespace autotune;

/// Larger tails are cut: register tiles hold all their live values.
static constexpr size_t kMaxJoinedAtOnce = 24;

namespace {

class Fuser {
public:
  Fuser(const Graph &graph, std::vector<int> blocks)
      : graph(graph), flow(graph), blocks(std::move(blocks)), owner(graph.operators.size(), -1) {}

  Partition run();

private:
  const GraphOperator &op(int id) const { return graph.operators[id]; }
  bool isKind(int id, FusionRole role) const { return op(id).fusion == role; }
  const std::vector<int64_t> &shape(int id) const { return graph.tensors[op(id).output].shape; }

  void open(int id);
  void join(int id, int subgraph);
  bool canBeTail(int id, int producer) const;
  std::vector<int> tailsAfter(int producer, int first) const;
  void placeElementwise(int id);
  void placeFill(int id);

  const Graph &graph;
  DataflowGraph flow;
  std::vector<int> blocks; // of each operator
  std::vector<int> owner;  // subgraph of each operator; -1: not placed yet
  std::vector<Subgraph> subgraphs;
};

} // namespace

void Fuser::open(int id) {
  owner[id] = int(subgraphs.size());
  subgraphs.push_back({{id}, blocks[id], isKind(id, FusionRole::View) ? "view" : "direct"});
}

void Fuser::join(int id, int subgraph) {
  owner[id] = subgraph;
  subgraphs[subgraph].operators.push_back(id);
}

bool Fuser::canBeTail(int id, int producer) const {
  return owner[id] < 0 && isKind(id, FusionRole::Elementwise) && shape(id) == shape(producer) &&
         blocks[id] == blocks[producer];
}

/// The operators that would join the subgraph of `producer` together with its reader `first`; empty if they
/// may not.
std::vector<int> Fuser::tailsAfter(int producer, int first) const {
  bool acceptsTails = isKind(producer, FusionRole::Root) || isKind(producer, FusionRole::Elementwise);
  if (!acceptsTails || flow.isReturned(producer) || subgraphs[owner[producer]].operators.back() != producer)
    return {};
  std::vector<int> tails = {first};
  if (flow.consumers(producer).size() > 1) {
    std::optional<int> meeting = flow.meetingPoint(producer);
    if (!meeting)
      return {};
    tails = flow.between(producer, *meeting);
    tails.push_back(*meeting);
  }
  bool allMay = llvm::all_of(tails, [&](int id) { return canBeTail(id, producer); });
  if (!allMay || tails.size() > kMaxJoinedAtOnce)
    return {};
  return tails;
}

void Fuser::placeElementwise(int id) {
  // Producers ascend: the last that accepts is computed last, so its operands are ready when it runs.
  for (int producer : llvm::reverse(flow.producers(id))) {
    if (owner[producer] < 0)
      continue;
    std::vector<int> tails = tailsAfter(producer, id);
    for (int tail : tails)
      join(tail, owner[producer]);
    if (!tails.empty())
      return;
  }
  open(id);
}

void Fuser::placeFill(int id) {
  const std::vector<int> &readers = flow.consumers(id);
  bool joins = readers.size() == 1 && !flow.isReturned(id) && owner[readers[0]] >= 0 &&
               !isKind(readers[0], FusionRole::View) && !isKind(readers[0], FusionRole::Movement) &&
               blocks[id] == blocks[readers[0]];
  if (joins)
    join(id, owner[readers[0]]);
  else
    open(id);
}

Partition Fuser::run() {
  for (const GraphOperator &each : graph.operators) {
    if (owner[each.id] >= 0 || each.fusion == FusionRole::Fill)
      continue;
    if (each.fusion == FusionRole::Elementwise)
      placeElementwise(each.id);
    else
      open(each.id);
  }
  for (const GraphOperator &each : graph.operators)
    if (each.fusion == FusionRole::Fill)
      placeFill(each.id);
  for (Subgraph &subgraph : subgraphs)
    llvm::sort(subgraph.operators);
  llvm::sort(subgraphs,
             [](const Subgraph &a, const Subgraph &b) { return a.operators.back() < b.operators.back(); });
  return {std::move(subgraphs)};
}

Partition autotune::partitionWith(const Graph &graph, llvm::ArrayRef<LayoutChain> chains,
                                  llvm::ArrayRef<int> channelBlocks) {
  assert(chains.size() == channelBlocks.size() && "expected one block for each chain");
  std::vector<int> blocks(graph.operators.size(), 0);
  for (auto [chain, block] : llvm::zip(chains, channelBlocks))
    for (int id : chain.operators)
      blocks[id] = block;
  return Fuser(graph, std::move(blocks)).run();
}

Partition autotune::defaultPartition(const Graph &graph, int channelBlock) {
  std::vector<LayoutChain> chains = layoutChains(graph);
  return partitionWith(graph, chains, std::vector<int>(chains.size(), channelBlock));
}
