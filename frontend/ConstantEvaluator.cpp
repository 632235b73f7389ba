// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Evaluates the ops that a builder emitted for a node whose operands are all known at import.
#include "frontend/ConstantEvaluator.h"

namespace autotune {

bool evaluateResults(NodeContext &node, mlir::Block &scratch) {
  for (auto &result : node.results)
    if (result && !result->constant)
      return false;
  return true;
}

} // namespace autotune
