// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// x · sigmoid(alpha x): SiLU with alpha 1, an approximation of GELU with 1.702. Also the sigmoid itself.
#include "frontend/patterns/Gate.h"
#include "frontend/patterns/IdeaBuilders.h"
#include "frontend/patterns/Patterns.h"

namespace autotune::patterns {

using llvm::StringRef;

std::optional<Idea> silu(Matcher &m) {
  double alpha = 0;
  std::optional<Gate> found =
      gate(m, {"Div", "Reciprocal", "Sigmoid"}, [&](StringRef curve, StringRef x) -> std::optional<double> {
        const onnx::NodeProto *node = m.producer(curve);
        std::optional<StringRef> argument = node ? sigmoidArgument(m, *node) : std::nullopt;
        std::optional<Polynomial> line = argument ? m.polynomial(*argument, x) : std::nullopt;
        if (!line || (*line)[0] != 0 || (*line)[2] != 0 || (*line)[3] != 0)
          return std::nullopt;
        alpha = (*line)[1];
        return 1;
      });
  if (!found || found->gain != 1 || m.costsMore(found->x))
    return std::nullopt;
  Idea idea{m.close(alpha, 1.702) ? "gelu" : "silu", buildSwish, m.node("Swish", found->x)};
  setAttribute(idea.node, "alpha", alpha);
  return idea;
}

std::optional<Idea> sigmoid(Matcher &m) {
  std::optional<StringRef> x = sigmoidArgument(m, m.root);
  std::optional<Shape> result =
      m.root.input_size() == 2 ? m.broadcastRoot() : Shape(m.shape(m.root.input(0)));
  if (!x || !result || m.shape(*x) != llvm::ArrayRef<int64_t>(*result))
    return std::nullopt;
  return m.idea("sigmoid", "Sigmoid", *x);
}

} // namespace autotune::patterns
