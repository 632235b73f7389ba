// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gelu and its fused and approximate forms, of both domains.
#include "frontend/OperatorTable.h"
#include "frontend/Scalar.h"

namespace autotune {

using mlir::Value;

namespace {

/// function(x + bias) over the shape of x; operand `bias` may be absent. Half types are computed in f32.
mlir::LogicalResult buildBiased(NodeContext &node, size_t bias,
                                llvm::function_ref<Value(Builder &, Value)> function) {
  ElementType type = node.type(0), wide = accumulatorType(type);
  Shape shape(node.shape(0));
  bool hasBias = node.hasInput(bias);
  if (!isFloat(type))
    return node.fail("operand is " + spelling(type) + ", expected a float");
  llvm::SmallVector<ElementwiseOperand> operands = {broadcastOperand(node, 0, shape)};
  if (hasBias) {
    std::optional<Shape> joined = broadcastShape(shape, node.shape(bias));
    if (!joined || *joined != shape || node.type(bias) != type)
      return node.fail("bias is " + spelling(node.type(bias)) + " of shape " + shapeText(node.shape(bias)) +
                       ", which does not fit " + shapeText(shape) + " of " + spelling(type));
    operands.push_back(broadcastOperand(node, bias, shape));
  }
  node.setResult(
      0, elementwise(node.b, shape, node.elementType(0), operands, [&](Builder &b, mlir::ValueRange v) {
        Value x = scalar::cast(b, v[0], type, wide);
        if (hasBias)
          x = scalar::add(b, x, scalar::cast(b, v[1], type, wide));
        return scalar::cast(b, function(b, x), wide, type);
      }));
  return mlir::success();
}

mlir::LogicalResult buildGelu(NodeContext &node) {
  std::string approximate = node.stringAttribute("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    return node.fail("approximate '" + approximate + "' is not none or tanh");
  return buildBiased(node, 1, approximate == "none" ? scalar::gelu : scalar::tanhGelu);
}

mlir::LogicalResult buildExactGelu(NodeContext &node) { return buildBiased(node, 1, scalar::gelu); }
mlir::LogicalResult buildFastGelu(NodeContext &node) { return buildBiased(node, 1, scalar::tanhGelu); }

/// x * sigmoid(alpha * x)
mlir::LogicalResult buildQuickGelu(NodeContext &node) {
  double alpha = node.floatAttribute("alpha", 1.702f);
  return buildBiased(node, 1, [&](Builder &b, Value x) {
    return scalar::mul(b, x, scalar::sigmoid(b, scalar::mul(b, x, scalar::constantLike(b, x, alpha))));
  });
}

constexpr OperatorEntry kOperators[] = {
    {"", "Gelu", 20, 1, 1, buildGelu},
    {"com.microsoft", "BiasGelu", 1, 2, 2, buildExactGelu},
    {"com.microsoft", "FastGelu", 1, 1, 2, buildFastGelu},
    {"com.microsoft", "Gelu", 1, 1, 1, buildExactGelu},
    {"com.microsoft", "QuickGelu", 1, 1, 1, buildQuickGelu},
};

} // namespace

llvm::ArrayRef<OperatorEntry> geluOperators() { return kOperators; }

} // namespace autotune
