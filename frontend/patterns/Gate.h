// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What GELU, SiLU, hard-swish and Mish have in common: a value times a curve of it.
#pragma once

#include "frontend/patterns/Matcher.h"

namespace autotune::patterns {

struct Gate {
  llvm::StringRef x;
  double gain = 1;
};

/// gain · x · curve(x), written as products and quotients by numbers in any order. The curve ends in one of
/// `curves`; `gainOf(curve, x)` tells whether it is the wanted one of x, times which number. The shape of the
/// root is that of x.
std::optional<Gate>
gate(Matcher &m, llvm::ArrayRef<llvm::StringRef> curves,
     llvm::function_ref<std::optional<double>(llvm::StringRef curve, llvm::StringRef x)> gainOf);

/// max(low, min(high, value)) in any spelling.
struct Clamp {
  llvm::StringRef value;
  double low = 0, high = 0;
};
std::optional<Clamp> clamp(Matcher &m, const onnx::NodeProto &node);

/// The argument of a sigmoid, written as one node or with exp.
std::optional<llvm::StringRef> sigmoidArgument(Matcher &m, const onnx::NodeProto &node);
/// The argument of log(1 + exp(x)), written as one node or in pieces.
std::optional<llvm::StringRef> softplusArgument(Matcher &m, const onnx::NodeProto &node);

} // namespace autotune::patterns
