// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ideas that exporters write in pieces. Each function looks at one node as the last piece of one idea.
#pragma once

#include "frontend/patterns/Matcher.h"

namespace autotune {

/// The idea whose last piece this node is, if its operands are known and building it whole costs no more.
std::optional<Idea> recognizeIdea(ImportContext &import, const onnx::NodeProto &node);

namespace patterns {

std::optional<Idea> attention(Matcher &m);
std::optional<Idea> gelu(Matcher &m);
std::optional<Idea> hardSigmoid(Matcher &m);
std::optional<Idea> hardSwish(Matcher &m);
std::optional<Idea> layerNorm(Matcher &m);
std::optional<Idea> mish(Matcher &m);
std::optional<Idea> sigmoid(Matcher &m);
std::optional<Idea> silu(Matcher &m);
std::optional<Idea> softmax(Matcher &m);
std::optional<Idea> softplus(Matcher &m);

struct SoftmaxPieces {
  llvm::StringRef x;
  int64_t axis = 0;
};
/// What a node is the softmax of, written as one node or in pieces.
std::optional<SoftmaxPieces> softmaxOf(Matcher &m, const onnx::NodeProto &node);

} // namespace patterns
} // namespace autotune
