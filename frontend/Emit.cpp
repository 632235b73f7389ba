// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands of nodes as operands of elementwise ops.
#include "frontend/Emit.h"

namespace autotune {

ElementwiseOperand broadcastOperand(NodeContext &node, size_t index, llvm::ArrayRef<int64_t> shape) {
  return broadcastOperand(node, index, Shape(node.shape(index)), shape);
}

ElementwiseOperand broadcastOperand(NodeContext &node, size_t index, llvm::ArrayRef<int64_t> as,
                                    llvm::ArrayRef<int64_t> shape) {
  const ConstantTensor *constant = node.constant(index);
  mlir::Type element = node.elementType(index);
  if (constant && constant->isSplat()) {
    if (isFloat(constant->type()))
      return {{}, {}, node.b.getFloatAttr(element, constant->floatAt(0))};
    return {{}, {}, node.b.getIntegerAttr(element, constant->intAt(0))};
  }
  Broadcast broadcast = broadcastOf(node.b, as, shape);
  mlir::Value tensor = !constant || constant->shape() == llvm::ArrayRef<int64_t>(broadcast.kept)
                           ? reshapeTo(node.b, node.input(index), broadcast.kept)
                           : node.materialize(constant->reshaped(broadcast.kept));
  return {tensor, broadcast.map, {}};
}

ElementType accumulatorType(ElementType type) {
  return type == ElementType::F16 || type == ElementType::BF16 ? ElementType::F32 : type;
}

} // namespace autotune
