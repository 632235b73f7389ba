// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Connected components of the operators that can be blocked.
#include "tuner/LayoutChains.h"

#include "llvm/ADT/STLExtras.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/connected_components.hpp>

#include <map>

using namespace autotune;

std::vector<LayoutChain> autotune::layoutChains(const Graph &graph) {
  auto canBlock = [&](int op) { return graph.operators[op].layout != LayoutRole::Plain; };
  boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS> values(graph.operators.size());
  for (const GraphOperator &op : graph.operators)
    for (int input : op.inputs) {
      int producer = graph.tensors[input].producer;
      if (producer >= 0 && canBlock(op.id) && canBlock(producer))
        boost::add_edge(producer, op.id, values);
    }
  std::vector<int> component(graph.operators.size());
  boost::connected_components(
      values, boost::make_iterator_property_map(component.begin(), boost::get(boost::vertex_index, values)));

  std::map<int, LayoutChain> chains;
  for (const GraphOperator &op : graph.operators)
    if (canBlock(op.id))
      chains[component[op.id]].operators.push_back(op.id);
  std::vector<LayoutChain> anchored;
  for (auto &[number, chain] : chains)
    if (llvm::any_of(chain.operators,
                     [&](int op) { return graph.operators[op].layout == LayoutRole::Anchor; }))
      anchored.push_back(std::move(chain));
  llvm::sort(anchored, [](const LayoutChain &a, const LayoutChain &b) { return a.operators < b.operators; });
  return anchored;
}
