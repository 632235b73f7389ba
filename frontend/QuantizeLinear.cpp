// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear.
#include "frontend/OperatorTable.h"
#include "frontend/Quantization.h"

#include "llvm/Support/MathExtras.h"

namespace autotune {

using mlir::Value;

namespace {

/// How a tensor is seen so that its parameters broadcast to it. With blocks, the axis is split in two: the
/// block, and the position inside it; the tensor is padded when the last block is not full.
struct ParameterGrid {
  Shape view;       // the tensor
  Shape parameters; // scale and zero point
  int64_t axis = 0;
  int64_t padding = 0; // elements added at the end of the axis
};

mlir::FailureOr<ParameterGrid> blockedGrid(NodeContext &node, int64_t axis, int64_t block) {
  Shape shape(node.shape(0)), expected = shape;
  if (block < 0)
    return node.fail("block_size is " + llvm::Twine(block) + ", expected 0 or more");
  expected[axis] = llvm::divideCeil(shape[axis], block);
  for (size_t index : {1, 2})
    if (node.hasInput(index) && node.shape(index) != llvm::ArrayRef<int64_t>(expected))
      return node.fail("input " + llvm::Twine(index) + " of shape " + shapeText(node.shape(index)) +
                       ", expected " + shapeText(expected) + " for blocks of " + llvm::Twine(block) +
                       " along axis " + llvm::Twine(axis) + " of " + shapeText(shape));
  if (!isFloat(node.type(1)))
    return node.fail("the scale is " + spelling(node.type(1)) + ", expected a float");
  ParameterGrid grid;
  grid.axis = axis;
  grid.padding = expected[axis] * block - shape[axis];
  grid.view = expected;
  grid.view.insert(grid.view.begin() + axis + 1, block);
  grid.parameters = expected;
  grid.parameters.insert(grid.parameters.begin() + axis + 1, 1);
  return grid;
}

/// Reads axis and block_size; the parameters are operands 1 and 2.
mlir::FailureOr<ParameterGrid> parameterGrid(NodeContext &node) {
  int64_t rank = node.rank(0), block = node.intAttribute("block_size", 0);
  ParameterGrid grid;
  grid.view = Shape(node.shape(0));
  bool one = elementCount(node.shape(1)) == 1;
  // With one scale for the whole tensor the axis means nothing, and may be outside.
  if (!one || block != 0)
    grid.axis = node.axisAttribute("axis", 1, rank);
  if (node.failedAlready())
    return mlir::failure();
  if (block != 0)
    return blockedGrid(node, grid.axis, block);
  if (failed(checkQuantParameters(node, {1, 2}, node.shape(0), grid.axis)))
    return mlir::failure();
  if (!one)
    grid.parameters = alongAxisShape(node.shape(1)[0], grid.axis, rank);
  return grid;
}

Value intoGrid(Builder &b, Value tensor, const ParameterGrid &grid) {
  Shape low(shapeOf(tensor).size(), 0), high = low;
  if (grid.padding)
    high[grid.axis] = grid.padding;
  return reshapeTo(b, padded(b, tensor, low, high, 0), grid.view);
}

Value outOfGrid(Builder &b, Value tensor, const ParameterGrid &grid, llvm::ArrayRef<int64_t> shape) {
  Shape whole(shape), zeros(shape.size(), 0), ones(shape.size(), 1);
  if (grid.padding)
    whole[grid.axis] += grid.padding;
  return sliceOf(b, reshapeTo(b, tensor, whole), zeros, shape, ones);
}

/// An attribute that names a type; nothing when it is absent or 0.
mlir::FailureOr<std::optional<ElementType>> typeAttribute(NodeContext &node, llvm::StringRef name) {
  int64_t code = node.intAttribute(name, 0);
  if (code == 0)
    return std::optional<ElementType>();
  std::optional<ElementType> type = elementTypeFromOnnx(code);
  if (!type)
    return node.fail(name + " " + onnxDataTypeName(code) + " is not supported");
  return type;
}

mlir::LogicalResult buildQuantizeLinear(NodeContext &node) {
  mlir::FailureOr<ParameterGrid> grid = parameterGrid(node);
  mlir::FailureOr<std::optional<ElementType>> wanted = typeAttribute(node, "output_dtype");
  if (failed(grid) || failed(wanted))
    return mlir::failure();
  ElementType from = node.type(0);
  ElementType type = node.hasInput(2) ? node.type(2) : wanted->value_or(ElementType::U8);
  if (*wanted && **wanted != type)
    return node.fail("the zero point is " + spelling(type) + ", output_dtype says " + spelling(**wanted));
  if (!isInteger(type) || byteSize(type) > 2)
    return node.fail("cannot quantise to " + spelling(type) + ", expected integers of 8 or 16 bits");
  if (!isFloat(from) && from != ElementType::I32)
    return node.fail("input is " + spelling(from) + ", expected floats or i32");
  Value result =
      quantized(node, intoGrid(node.b, node.input(0), *grid), from, {1, 2}, grid->parameters, type);
  node.setResult(0, outOfGrid(node.b, result, *grid, node.shape(0)), type);
  return mlir::success();
}

mlir::LogicalResult buildDequantizeLinear(NodeContext &node) {
  mlir::FailureOr<ParameterGrid> grid = parameterGrid(node);
  mlir::FailureOr<std::optional<ElementType>> wanted = typeAttribute(node, "output_dtype");
  if (failed(grid) || failed(wanted))
    return mlir::failure();
  ElementType from = node.type(0), type = wanted->value_or(node.type(1));
  if (!isInteger(from) || byteSize(from) > 4 || from == ElementType::U32 ||
      (node.hasInput(2) && node.type(2) != from))
    return node.fail("input is " + spelling(from) +
                     ", expected integers of 8, 16 or 32 bits like its zero point");
  if (!isFloat(type))
    return node.fail("output_dtype is " + spelling(type) + ", expected a float");
  Value result =
      dequantized(node, intoGrid(node.b, node.input(0), *grid), from, {1, 2}, grid->parameters, type);
  node.setResult(0, outOfGrid(node.b, result, *grid, node.shape(0)), type);
  return mlir::success();
}

/// u8 with scale and zero point from the range of the data, which includes 0.
mlir::LogicalResult buildDynamicQuantizeLinear(NodeContext &node) {
  if (node.type(0) != ElementType::F32)
    return node.fail("input is " + spelling(node.type(0)) + ", expected f32");
  Value input = node.input(0);
  DynamicQuantization parameters = dynamicQuantization(node.b, input);
  node.setResult(0, dynamicallyQuantized(node.b, input, parameters), ElementType::U8);
  node.setResult(1, parameters.scale, ElementType::F32);
  node.setResult(2, parameters.zeroPoint, ElementType::U8);
  return mlir::success();
}

constexpr OperatorEntry kOperators[] = {
    {"", "DequantizeLinear", 10, 2, 3, buildDequantizeLinear},
    {"", "DynamicQuantizeLinear", 11, 1, 1, buildDynamicQuantizeLinear},
    {"", "QuantizeLinear", 10, 2, 3, buildQuantizeLinear},
    {"com.microsoft", "DequantizeLinear", 1, 2, 3, buildDequantizeLinear},
    {"com.microsoft", "QuantizeLinear", 1, 2, 3, buildQuantizeLinear},
};

} // namespace

llvm::ArrayRef<OperatorEntry> quantizationOperators() { return kOperators; }

} // namespace autotune
