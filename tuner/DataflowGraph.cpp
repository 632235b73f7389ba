// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Adjacency and post-dominators, with Boost.Graph.
#include "tuner/DataflowGraph.h"

#include "llvm/ADT/STLExtras.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dominator_tree.hpp>

#include <set>

using namespace autotune;

/// Dominators of the reversed graph, seen from one virtual exit behind everything that leaves the model.
static std::vector<int> findPostDominators(const std::vector<std::vector<int>> &readers,
                                           const std::vector<bool> &returned) {
  using Reversed = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;
  int exit = int(readers.size());
  Reversed reversed(readers.size() + 1);
  for (int op = 0; op < exit; ++op) {
    if (returned[op] || readers[op].empty())
      boost::add_edge(exit, op, reversed);
    for (int reader : readers[op])
      boost::add_edge(reader, op, reversed);
  }
  std::vector<int> dominators(readers.size() + 1, exit);
  boost::lengauer_tarjan_dominator_tree(
      reversed, exit,
      boost::make_iterator_property_map(dominators.begin(), boost::get(boost::vertex_index, reversed)));
  return dominators;
}

DataflowGraph::DataflowGraph(const Graph &graph)
    : readers(graph.operators.size()), sources(graph.operators.size()), returned(graph.operators.size()) {
  for (const GraphOperator &op : graph.operators) {
    std::set<int> producers;
    for (int input : op.inputs)
      if (int producer = graph.tensors[input].producer; producer >= 0)
        producers.insert(producer);
    sources[op.id].assign(producers.begin(), producers.end());
    for (int producer : producers)
      readers[producer].push_back(op.id); // ascending: operators come in order
  }
  for (int output : graph.outputs)
    if (int producer = graph.tensors[output].producer; producer >= 0)
      returned[producer] = true;
  postDominators = findPostDominators(readers, returned);
}

std::optional<int> DataflowGraph::meetingPoint(int op) const {
  int meeting = postDominators[op];
  if (meeting == int(readers.size()))
    return std::nullopt;
  return meeting;
}

std::vector<int> DataflowGraph::between(int op, int meeting) const {
  std::set<int> seen;
  std::vector<int> worklist = {op};
  while (!worklist.empty()) {
    int current = worklist.back();
    worklist.pop_back();
    for (int reader : readers[current])
      if (reader != meeting && seen.insert(reader).second)
        worklist.push_back(reader);
  }
  return {seen.begin(), seen.end()};
}
