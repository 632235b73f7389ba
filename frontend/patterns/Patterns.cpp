// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which patterns end in which operator.
#include "frontend/patterns/Patterns.h"

#include "llvm/ADT/STLExtras.h"

namespace autotune {

namespace {

struct Pattern {
  llvm::StringRef root;
  std::optional<Idea> (*match)(Matcher &);
};

constexpr Pattern kPatterns[] = {
    {"Add", patterns::layerNorm},    {"Clip", patterns::hardSigmoid}, {"Div", patterns::gelu},
    {"Div", patterns::hardSigmoid},  {"Div", patterns::hardSwish},    {"Div", patterns::layerNorm},
    {"Div", patterns::sigmoid},      {"Div", patterns::silu},         {"Div", patterns::softmax},
    {"Einsum", patterns::attention}, {"Log", patterns::softplus},     {"MatMul", patterns::attention},
    {"Min", patterns::hardSigmoid},  {"Mul", patterns::gelu},         {"Mul", patterns::hardSigmoid},
    {"Mul", patterns::hardSwish},    {"Mul", patterns::layerNorm},    {"Mul", patterns::mish},
    {"Mul", patterns::silu},         {"Mul", patterns::softmax},      {"Reciprocal", patterns::sigmoid},
};

} // namespace

std::optional<Idea> recognizeIdea(ImportContext &import, const onnx::NodeProto &node) {
  // Constants of ideas are kept in single precision: too little for f64.
  bool fits = llvm::any_of(node.input(), [&](const std::string &name) {
    ImportedValue *operand = name.empty() ? nullptr : import.find(name);
    return operand && isFloat(operand->type) && operand->type != ElementType::F64;
  });
  if (!fits || !node.domain().empty())
    return std::nullopt;
  for (const Pattern &pattern : kPatterns) {
    if (pattern.root != llvm::StringRef(node.op_type()))
      continue;
    Matcher matcher(import, node);
    std::optional<Idea> idea = pattern.match(matcher);
    if (!idea)
      continue;
    idea->pieces = matcher.pieces().vec();
    return idea;
  }
  return std::nullopt;
}

} // namespace autotune
