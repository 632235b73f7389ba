// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What dialect/Emit.h offers, for the operands of a node.
#pragma once

#include "dialect/Emit.h"
#include "frontend/NodeContext.h"

namespace autotune {

/// `broadcastOperand` for an operand of a node: splat constants become numbers, other constants are collapsed
/// at import.
ElementwiseOperand broadcastOperand(NodeContext &node, size_t index, llvm::ArrayRef<int64_t> shape);
/// The same, seen in the shape `as` of equal element count.
ElementwiseOperand broadcastOperand(NodeContext &node, size_t index, llvm::ArrayRef<int64_t> as,
                                    llvm::ArrayRef<int64_t> shape);

/// f32 for the 16-bit floats, otherwise the type itself.
ElementType accumulatorType(ElementType type);

} // namespace autotune
