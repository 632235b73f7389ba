// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text form of dataflow graphs.
#include "schedule/Graph.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace autotune;

static const char *name(LayoutRole role) {
  switch (role) {
  case LayoutRole::Plain:
    return "plain";
  case LayoutRole::Anchor:
    return "anchor";
  case LayoutRole::Follows:
    return "follows";
  }
  llvm_unreachable("every role has a name");
}

static const char *name(FusionRole role) {
  switch (role) {
  case FusionRole::Root:
    return "root";
  case FusionRole::Elementwise:
    return "elementwise";
  case FusionRole::Fill:
    return "fill";
  case FusionRole::View:
    return "view";
  case FusionRole::Movement:
    return "movement";
  }
  llvm_unreachable("every role has a name");
}

static void printTensor(llvm::raw_ostream &stream, const Graph &graph, int index) {
  const GraphTensor &tensor = graph.tensors[index];
  stream << (tensor.constant ? "const " : "") << "t" << index << " " << tensor.dtype << " [";
  llvm::interleave(tensor.shape, stream, "x");
  stream << "]";
}

std::string Graph::text() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (const GraphOperator &op : operators) {
    stream << op.id << ": " << op.kind << " \"";
    llvm::printEscapedString(op.label, stream);
    stream << "\" " << name(op.layout) << " " << name(op.fusion) << " (";
    llvm::interleaveComma(op.inputs, stream, [&](int input) { printTensor(stream, *this, input); });
    stream << ") -> ";
    printTensor(stream, *this, op.output);
    stream << " " << llvm::format("%.6g", op.flops) << " flops\n";
  }
  stream << "outputs:";
  for (int output : outputs)
    stream << " t" << output;
  stream << "\n";
  return text;
}
