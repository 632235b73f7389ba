// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GELU: x · Φ(x) with erf, with tanh, or with a sigmoid of 1.702 x (see Silu.cpp).
#include "frontend/patterns/Gate.h"
#include "frontend/patterns/Patterns.h"

#include <cmath>

namespace autotune::patterns {

using llvm::StringRef;

namespace {

/// gain · (1 + op(argument)): the gain and the argument.
std::optional<std::pair<double, StringRef>> onePlus(Matcher &m, StringRef curve, StringRef opType) {
  const onnx::NodeProto *add = m.producer(curve, "Add");
  auto rest = add ? m.besideAnyNumber(*add) : std::nullopt;
  if (!rest)
    return std::nullopt;
  double gain = 1;
  StringRef inner = rest->first;
  if (const onnx::NodeProto *scaled = m.producer(inner, "Mul"))
    if (auto factor = m.besideAnyNumber(*scaled)) {
      gain = factor->second;
      inner = factor->first;
    }
  const onnx::NodeProto *function = m.producer(inner, opType);
  if (!function || !m.close(rest->second, gain))
    return std::nullopt;
  return std::pair<double, StringRef>(gain, function->input(0));
}

std::optional<Idea> geluWith(Matcher &m, StringRef function, const Polynomial &argument,
                             StringRef approximate) {
  std::optional<Gate> found = gate(m, {"Add"}, [&](StringRef curve, StringRef x) -> std::optional<double> {
    auto inner = onePlus(m, curve, function);
    if (!inner || !m.isPolynomial(inner->second, x, argument))
      return std::nullopt;
    return inner->first;
  });
  if (!found || !m.close(found->gain, 0.5))
    return std::nullopt;
  std::optional<Idea> idea = m.idea("gelu", "Gelu", found->x);
  if (idea)
    setAttribute(idea->node, "approximate", approximate);
  return idea;
}

} // namespace

std::optional<Idea> gelu(Matcher &m) {
  if (std::optional<Idea> exact = geluWith(m, "Erf", {0, std::sqrt(0.5), 0, 0}, "none"))
    return exact;
  double slope = std::sqrt(2 / M_PI);
  return geluWith(m, "Tanh", {0, slope, 0, 0.044715 * slope}, "tanh");
}

} // namespace autotune::patterns
