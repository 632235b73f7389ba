// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hard sigmoid, a line clamped to 0 … 1, and hard swish, x · clamp(x / 6 + 1 / 2).
#include "frontend/patterns/Gate.h"
#include "frontend/patterns/Patterns.h"

#include <cmath>

namespace autotune::patterns {

using llvm::StringRef;

namespace {

/// gain · max(0, min(1, slope · x + offset))
struct Ramp {
  double gain, slope, offset;
};

/// clamp(a x + b, 0, high) is high times a clamp to 0 … 1.
std::optional<Ramp> rampOf(Matcher &m, const onnx::NodeProto &node, StringRef x) {
  if (node.op_type() == "HardSigmoid" && m.same(node.input(0), x))
    return Ramp{1, m.floatAttribute(node, "alpha", 0.2f), m.floatAttribute(node, "beta", 0.5)};
  std::optional<Clamp> bounds = clamp(m, node);
  if (!bounds || bounds->low != 0 || !(bounds->high > 0) || !std::isfinite(bounds->high))
    return std::nullopt;
  std::optional<Polynomial> line = m.polynomial(bounds->value, x);
  if (!line || (*line)[1] == 0 || (*line)[2] != 0 || (*line)[3] != 0)
    return std::nullopt;
  return Ramp{bounds->high, (*line)[1] / bounds->high, (*line)[0] / bounds->high};
}

/// The value whose line a clamp takes: operands of one sum and one product by numbers.
StringRef lineOperand(Matcher &m, StringRef value) {
  for (int i = 0; i < 2; ++i) {
    const onnx::NodeProto *node = m.producer(value);
    bool isLine = node && node->domain().empty() &&
                  (node->op_type() == "Add" || node->op_type() == "Mul" || node->op_type() == "Div");
    auto rest = isLine ? m.besideAnyNumber(*node) : std::nullopt;
    if (!rest || (node->op_type() == "Div" && rest->first != StringRef(node->input(0))))
      return value;
    value = rest->first;
  }
  return value;
}

} // namespace

std::optional<Idea> hardSigmoid(Matcher &m) {
  const onnx::NodeProto *clamped = &m.root;
  double gain = 1;
  if (m.root.op_type() == "Mul" || m.root.op_type() == "Div") {
    auto rest = m.besideAnyNumber(m.root);
    clamped = rest ? m.producer(rest->first) : nullptr;
    if (!clamped || (m.root.op_type() == "Div" && rest->first != StringRef(m.root.input(0))))
      return std::nullopt;
    gain = m.root.op_type() == "Div" ? 1 / rest->second : rest->second;
  }
  std::optional<Clamp> bounds = clamp(m, *clamped);
  if (!bounds)
    return std::nullopt;
  StringRef x = lineOperand(m, bounds->value);
  std::optional<Ramp> ramp = m.same(x, bounds->value) ? std::nullopt : rampOf(m, *clamped, x);
  // Only floats count as a curve: x + 1 held between 0 and 1 is no sigmoid, but means the same.
  if (!ramp || !m.close(ramp->gain * gain, 1) || m.shape(x) != m.shape(clamped->input(0)))
    return std::nullopt;
  std::optional<Idea> idea = m.idea("hard_sigmoid", "HardSigmoid", x);
  if (!idea)
    return std::nullopt;
  setAttribute(idea->node, "alpha", ramp->slope);
  setAttribute(idea->node, "beta", ramp->offset);
  return idea;
}

std::optional<Idea> hardSwish(Matcher &m) {
  std::optional<Gate> found =
      gate(m, {"Clip", "HardSigmoid", "Min"}, [&](StringRef curve, StringRef x) -> std::optional<double> {
        const onnx::NodeProto *node = m.producer(curve);
        std::optional<Ramp> ramp = node && node->domain().empty() ? rampOf(m, *node, x) : std::nullopt;
        if (!ramp || !m.close(ramp->slope, 1.0 / 6) || !m.close(ramp->offset, 0.5))
          return std::nullopt;
        return ramp->gain;
      });
  return found && m.close(found->gain, 1) ? m.idea("hard_swish", "HardSwish", found->x) : std::nullopt;
}

} // namespace autotune::patterns
