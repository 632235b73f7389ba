// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that only give a tensor another shape.
#include "frontend/Emit.h"
#include "frontend/OperatorTable.h"

namespace autotune {

namespace {

/// Reshapes a known operand at import, others by collapse and expand.
mlir::LogicalResult setReshaped(NodeContext &node, llvm::ArrayRef<int64_t> shape) {
  if (node.failedAlready())
    return mlir::failure();
  if (!checkedByteCount(shape, node.type(0)) || elementCount(shape) != elementCount(node.shape(0)))
    return node.fail("cannot turn " + shapeText(node.shape(0)) + " into " + shapeText(shape));
  if (const ConstantTensor *constant = node.constant(0))
    node.setResult(0, constant->reshaped(shape));
  else
    node.setResult(0, reshapeTo(node.b, node.input(0), shape));
  return mlir::success();
}

/// Resolves 0 (copy the dimension) and -1 (what is left).
mlir::FailureOr<Shape> requestedShape(NodeContext &node, llvm::ArrayRef<int64_t> wanted) {
  bool allowZero = node.intAttribute("allowzero", 0) != 0;
  llvm::ArrayRef<int64_t> from = node.shape(0);
  Shape shape;
  int64_t inferred = -1, known = 1;
  for (auto [axis, dim] : llvm::enumerate(wanted)) {
    if (dim == 0 && !allowZero) {
      if (axis >= from.size())
        return node.fail("shape " + shapeText(wanted) + " copies dimension " + llvm::Twine(axis) +
                         ", which the input " + shapeText(from) + " does not have");
      shape.push_back(from[axis]);
    } else if (dim == -1 && inferred < 0) {
      inferred = axis;
      shape.push_back(1);
    } else if (dim < 0 || dim > kMaxTensorBytes) {
      return node.fail("shape " + shapeText(wanted) + " is not valid");
    } else {
      shape.push_back(dim);
    }
    if (inferred != static_cast<int64_t>(axis) && llvm::MulOverflow(known, shape.back(), known))
      return node.fail("shape " + shapeText(wanted) + " is too large");
  }
  if (inferred >= 0) {
    if (known == 0 || elementCount(from) % known != 0)
      return node.fail("cannot infer the dimension -1 of " + shapeText(wanted) + " for the input " + shapeText(from));
    shape[inferred] = elementCount(from) / known;
  }
  return shape;
}

mlir::LogicalResult buildReshape(NodeContext &node) {
  std::optional<std::vector<int64_t>> wanted = node.intsAttributeOrInput("shape", 1);
  if (node.failedAlready())
    return mlir::failure();
  if (!wanted)
    return node.fail("the shape is missing");
  mlir::FailureOr<Shape> shape = requestedShape(node, *wanted);
  if (failed(shape))
    return mlir::failure();
  return setReshaped(node, *shape);
}

mlir::LogicalResult buildFlatten(NodeContext &node) {
  llvm::ArrayRef<int64_t> shape = node.shape(0);
  int64_t rank = shape.size(), axis = node.intAttribute("axis", 1);
  if (axis < -rank || axis > rank)
    return node.fail("axis " + llvm::Twine(axis) + " is outside a tensor of rank " + llvm::Twine(rank));
  if (axis < 0)
    axis += rank;
  return setReshaped(node, {elementCount(shape.take_front(axis)), elementCount(shape.drop_front(axis))});
}

mlir::LogicalResult buildSqueeze(NodeContext &node) {
  std::optional<std::vector<int64_t>> axes = node.intsAttributeOrInput("axes", 1);
  llvm::ArrayRef<int64_t> from = node.shape(0);
  std::vector<int64_t> dropped;
  if (axes && !axes->empty())
    dropped = node.normalizedAxes(*axes, from.size());
  Shape shape;
  for (auto [axis, dim] : llvm::enumerate(from)) {
    bool named = llvm::is_contained(dropped, static_cast<int64_t>(axis));
    if (named && dim != 1)
      return node.fail("dimension " + llvm::Twine(axis) + " of " + shapeText(from) + " is not 1");
    if (!(named || (dropped.empty() && dim == 1)))
      shape.push_back(dim);
  }
  return setReshaped(node, shape);
}

mlir::LogicalResult buildUnsqueeze(NodeContext &node) {
  std::optional<std::vector<int64_t>> axes = node.intsAttributeOrInput("axes", 1);
  if (!axes)
    return node.fail("the axes are missing");
  int64_t rank = node.rank(0) + axes->size();
  std::vector<int64_t> added = node.normalizedAxes(*axes, rank);
  if (added.size() != axes->size())
    return node.fail("an axis is repeated");
  Shape shape;
  size_t next = 0;
  for (int64_t axis = 0; axis < rank; ++axis)
    shape.push_back(llvm::is_contained(added, axis) ? 1 : node.shape(0)[next++]);
  return setReshaped(node, shape);
}

constexpr OperatorEntry kOperators[] = {
    {"", "Flatten", 1, 1, 1, buildFlatten},
    {"", "Reshape", 1, 1, 2, buildReshape},
    {"", "Squeeze", 1, 1, 2, buildSqueeze},
    {"", "Unsqueeze", 1, 1, 2, buildUnsqueeze},
};

} // namespace

llvm::ArrayRef<OperatorEntry> shapeOperators() { return kOperators; }

} // namespace autotune
