// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ideas as ops of the autotune dialect, or as one elementwise op.
#include "frontend/patterns/IdeaBuilders.h"

#include "dialect/AutotuneDialect.h"
#include "frontend/Scalar.h"

namespace autotune {

namespace arith = mlir::arith;
using mlir::Value;

namespace {

/// Rows become columns.
Value swappedMatrices(Builder &b, Value tensor) {
  auto permutation = llvm::to_vector(llvm::seq<int64_t>(0, shapeOf(tensor).size()));
  std::swap(permutation[permutation.size() - 2], permutation.back());
  return transposed(b, tensor, permutation);
}

Value inverted(Builder &b, Value mask) {
  Shape shape(shapeOf(mask));
  return elementwise(b, shape, b.getI1Type(), broadcastOperand(b, mask, shape),
                     [](Builder &inner, mlir::ValueRange v) -> Value {
                       return inner.create<arith::XOrIOp>(v[0], scalar::constantLike(inner, v[0], 1));
                     });
}

} // namespace

mlir::LogicalResult buildAttention(NodeContext &node) {
  Builder &b = node.b;
  Value query = node.input(0), key = node.input(1), value = node.input(2);
  if (node.intAttribute("key_transposed", 0))
    key = swappedMatrices(b, key);
  Value bias = node.hasInput(3) ? node.input(3) : Value(), mask = node.hasInput(4) ? node.input(4) : Value();
  if (mask && node.intAttribute("inverted", 0))
    mask = inverted(b, mask);
  Shape shape(shapeOf(query));
  shape.back() = shapeOf(value).back();
  mlir::IntegerAttr causal;
  if (node.hasAttribute("causal"))
    causal = b.getI64IntegerAttr(node.intAttribute("causal", 0));
  mlir::FloatAttr fill;
  if (node.hasAttribute("fill"))
    fill = b.getF64FloatAttr(node.floatAttribute("fill", 0));
  auto type = mlir::RankedTensorType::get(shape, elementOf(query));
  auto scale = b.getF64FloatAttr(node.floatAttribute("scale", 1));
  mlir::DenseI64ArrayAttr asDescribed;
  node.setResult(0, b.create<AttentionOp>(type, query, key, value, bias, mask, scale, causal, fill,
                                          asDescribed, asDescribed, asDescribed, asDescribed));
  return mlir::success();
}

mlir::LogicalResult buildLayerNorm(NodeContext &node) {
  Builder &b = node.b;
  auto optional = [&](size_t index) { return node.hasInput(index) ? node.input(index) : Value(); };
  Value input = node.input(0);
  node.setResult(0, b.create<LayerNormOp>(
                        input.getType(), input, optional(1), optional(2), node.intsAttribute("axes"),
                        llvm::APFloat(node.floatAttribute("epsilon", 0)), node.intAttribute("rms", 0) != 0));
  return mlir::success();
}

mlir::LogicalResult buildSwish(NodeContext &node) {
  double alpha = node.floatAttribute("alpha", 1);
  llvm::ArrayRef<int64_t> shape = node.shape(0);
  node.setResult(0, elementwise(node.b, shape, node.elementType(0), broadcastOperand(node, 0, shape),
                                [&](Builder &b, mlir::ValueRange v) {
                                  Value inner = v[0];
                                  if (alpha != 1)
                                    inner = scalar::mul(b, inner, scalar::constantLike(b, inner, alpha));
                                  return scalar::mul(b, v[0], scalar::sigmoid(b, inner));
                                }));
  return mlir::success();
}

} // namespace autotune
