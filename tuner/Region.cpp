// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Canonical text of regions: values are numbered in the order in which they come up.
#include "tuner/Region.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace autotune;

namespace {

class RegionWriter {
public:
  RegionWriter(const Graph &graph, const LayoutChain &chain) : graph(graph), chain(chain), stream(text) {}

  std::string write(int threads, Numerics numerics);

private:
  void writeType(int tensor);
  void writeInput(int tensor);
  bool isReadOutside(const GraphOperator &op) const;

  const Graph &graph;
  const LayoutChain &chain;
  std::map<int, std::string> names; // of tensors
  int made = 0, given = 0;
  std::string text;
  llvm::raw_string_ostream stream;
};

} // namespace

void RegionWriter::writeType(int tensor) {
  const GraphTensor &type = graph.tensors[tensor];
  stream << type.dtype << "[";
  llvm::interleave(type.shape, stream, "x");
  stream << "]";
}

/// A value from outside is described where it is first read.
void RegionWriter::writeInput(int tensor) {
  auto [name, isNew] = names.try_emplace(tensor);
  if (!isNew) {
    stream << name->second;
    return;
  }
  bool constant = graph.tensors[tensor].constant;
  name->second = "in" + std::to_string(given++);
  stream << name->second << ":" << (constant ? "const " : "plain ");
  writeType(tensor);
}

bool RegionWriter::isReadOutside(const GraphOperator &op) const {
  if (llvm::is_contained(graph.outputs, op.output))
    return true;
  return llvm::any_of(graph.operators, [&](const GraphOperator &reader) {
    return llvm::is_contained(reader.inputs, op.output) && !llvm::is_contained(chain.operators, reader.id);
  });
}

std::string RegionWriter::write(int threads, Numerics numerics) {
  for (int id : chain.operators) {
    const GraphOperator &op = graph.operators[id];
    std::string name = "v" + std::to_string(made++);
    stream << name << " = " << op.kind << "(";
    llvm::interleaveComma(op.inputs, stream, [&](int input) { writeInput(input); });
    stream << ") -> ";
    writeType(op.output);
    stream << " " << llvm::format("%.6g", op.flops) << (isReadOutside(op) ? " plain\n" : "\n");
    names[op.output] = name;
  }
  stream << "threads: " << threads << "\nnumerics: " << numericsName(numerics) << "\n";
  return text;
}

Region autotune::chainRegion(const Graph &graph, const LayoutChain &chain, int threads, Numerics numerics) {
  return {"conv-chain", RegionWriter(graph, chain).write(threads, numerics), chain.operators};
}

Region autotune::convolutionRegion(const Graph &graph, const Subgraph &subgraph, int threads,
                                   Numerics numerics) {
  LayoutChain chain = {subgraph.operators};
  std::string text = RegionWriter(graph, chain).write(threads, numerics);
  return {"conv", text + "channel_block: " + std::to_string(subgraph.channelBlock) + "\n",
          subgraph.operators};
}
