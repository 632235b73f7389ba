// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scaled dot-product attention on tensors [batch, heads, sequence, size], shared by all operators that
// compute it.
#pragma once

#include "frontend/Emit.h"

#include <functional>

namespace autotune {

/// Changes a score at [batch, head, query, key] by an operand over these four loops.
struct ScoreTerm {
  ElementwiseOperand operand;
  std::function<mlir::Value(Builder &, mlir::Value score, mlir::Value operand)> apply;
  /// What is added does not depend on the score: terms that are all so become one bias of
  /// `autotune.attention`.
  bool isAddend = false;
};

struct AttentionOptions {
  double scale = 1;
  /// Query i sees the keys up to i + `causalOffset` only.
  std::optional<int64_t> causalOffset;
  llvm::SmallVector<ScoreTerm> terms;
};

/// softmax(scale * query * key^T, changed by the terms) * value. The operands are of one float type, with
/// equal batch and heads; the result is [batch, heads, queries, value size]. Half types are computed in f32.
mlir::Value attended(Builder &b, mlir::Value query, mlir::Value key, mlir::Value value,
                     const AttentionOptions &options);

/// [batch, sequence, heads * size] as [batch, heads, sequence, size], and back.
mlir::Value splitHeads(Builder &b, mlir::Value tensor, int64_t heads);
mlir::Value joinHeads(Builder &b, mlir::Value tensor);

} // namespace autotune
