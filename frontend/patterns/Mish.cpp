// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mish, x · tanh(softplus(x)), and the softplus itself.
#include "frontend/patterns/Gate.h"
#include "frontend/patterns/Patterns.h"

namespace autotune::patterns {

using llvm::StringRef;

std::optional<Idea> mish(Matcher &m) {
  std::optional<Gate> found = gate(m, {"Tanh"}, [&](StringRef curve, StringRef x) -> std::optional<double> {
    const onnx::NodeProto *tanh = m.producer(curve, "Tanh");
    const onnx::NodeProto *inner = tanh ? m.producer(tanh->input(0)) : nullptr;
    std::optional<StringRef> argument = inner ? softplusArgument(m, *inner) : std::nullopt;
    return argument && m.same(*argument, x) ? std::optional<double>(1) : std::nullopt;
  });
  return found && found->gain == 1 ? m.idea("mish", "Mish", found->x) : std::nullopt;
}

std::optional<Idea> softplus(Matcher &m) {
  std::optional<StringRef> x = softplusArgument(m, m.root);
  return x && m.shape(*x) == m.shape(m.root.input(0)) ? m.idea("softplus", "Softplus", *x) : std::nullopt;
}

} // namespace autotune::patterns
