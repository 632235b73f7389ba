// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that make values from attributes and shapes.
#include "frontend/Emit.h"
#include "frontend/OperatorTable.h"

#include <algorithm>
#include <cmath>

namespace autotune {

namespace {

mlir::LogicalResult buildConstant(NodeContext &node) {
  if (std::optional<ConstantTensor> tensor = node.tensorAttribute("value")) {
    node.setResult(0, *tensor);
    return mlir::success();
  }
  if (node.hasAttribute("value_int")) {
    node.setResult(0, ConstantTensor::ints(node.intAttribute("value_int", 0)).reshaped({}));
  } else if (node.hasAttribute("value_ints")) {
    node.setResult(0, ConstantTensor::ints(node.intsAttribute("value_ints")));
  } else if (node.hasAttribute("value_float")) {
    node.setResult(0, ConstantTensor::scalar(ElementType::F32, node.floatAttribute("value_float", 0)));
  } else if (node.hasAttribute("value_floats")) {
    std::vector<float> values = node.floatsAttribute("value_floats");
    node.setResult(0, ConstantTensor::floats({static_cast<int64_t>(values.size())}, values));
  } else {
    return node.fail("expected one of value, value_int, value_ints, value_float, value_floats");
  }
  return mlir::success();
}

mlir::LogicalResult buildConstantOfShape(NodeContext &node) {
  std::optional<std::vector<int64_t>> shape = node.constantInts(0);
  if (node.failedAlready())
    return mlir::failure();
  std::optional<ConstantTensor> value = node.tensorAttribute("value");
  if (!value)
    value = ConstantTensor::scalar(ElementType::F32, 0);
  if (value->size() != 1)
    return node.fail("attribute 'value' has " + llvm::Twine(value->size()) + " elements, expected 1");
  if (!checkedByteCount(*shape, value->type()))
    return node.fail("the shape " + shapeText(*shape) + " is impossible or too large");
  llvm::ArrayRef<char> element(value->element(0), byteSize(value->type()));
  node.setResult(0, ConstantTensor::splat(value->type(), *shape, element));
  return mlir::success();
}

mlir::LogicalResult buildShape(NodeContext &node) {
  int64_t rank = node.rank(0);
  auto clamp = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank); };
  int64_t start = clamp(node.intAttribute("start", 0)), end = clamp(node.intAttribute("end", rank));
  node.setResult(0, ConstantTensor::ints(node.shape(0).slice(start, std::max<int64_t>(end - start, 0))));
  return mlir::success();
}

mlir::LogicalResult buildSize(NodeContext &node) {
  node.setResult(0, ConstantTensor::ints(elementCount(node.shape(0))).reshaped({}));
  return mlir::success();
}

mlir::LogicalResult buildIdentity(NodeContext &node) {
  node.forward(0, 0);
  return mlir::success();
}

/// The operand passes through and the mask is all true: in inference, and where nothing is dropped.
mlir::LogicalResult buildDropout(NodeContext &node) {
  if (node.hasInput(2)) {
    const ConstantTensor *training = node.constant(2), *ratio = node.constant(1);
    bool trains = !training || (training->size() == 1 && training->intAt(0) != 0);
    bool drops = !ratio || ratio->size() != 1 || ratio->floatAt(0) != 0;
    if (trains && drops)
      return node.fail("training mode drops elements at random, which is not supported");
  }
  node.forward(0, 0);
  // Before opset 10 the mask has the type of the data.
  ConstantTensor kept = ConstantTensor::scalar(node.version() < 10 ? node.type(0) : ElementType::Bool, 1);
  node.setResult(1, ConstantTensor::splat(kept.type(), node.shape(0), kept.rawData()));
  return mlir::success();
}

mlir::LogicalResult buildRange(NodeContext &node) {
  const ConstantTensor *start = node.constant(0), *limit = node.constant(1), *delta = node.constant(2);
  if (!start || !limit || !delta || start->size() != 1 || limit->size() != 1 || delta->size() != 1)
    return node.fail("start, limit and delta must be scalars known at import: the shape depends on them");
  ElementType type = start->type();
  if (limit->type() != type || delta->type() != type || type == ElementType::Bool)
    return node.fail("start, limit and delta are not numbers of one type");
  double step = delta->floatAt(0);
  if (step == 0)
    return node.fail("delta is 0");
  double count = std::max(0.0, std::ceil((limit->floatAt(0) - start->floatAt(0)) / step));
  if (!(count < 1 << 28))
    return node.fail("the range has too many elements");
  if (failed(node.spend(static_cast<int64_t>(count))))
    return mlir::failure();
  unsigned width = byteSize(type);
  std::vector<char> bytes(static_cast<size_t>(count) * width);
  for (int64_t i = 0; i < static_cast<int64_t>(count); ++i) {
    if (isFloat(type))
      storeFloat(bytes.data() + i * width, type, start->floatAt(0) + i * step);
    else
      storeInt(bytes.data() + i * width, type,
               static_cast<int64_t>(static_cast<uint64_t>(start->intAt(0)) +
                                    static_cast<uint64_t>(i) * static_cast<uint64_t>(delta->intAt(0))));
  }
  node.setResult(0, ConstantTensor::own(type, {static_cast<int64_t>(count)}, std::move(bytes)));
  return mlir::success();
}

constexpr OperatorEntry kOperators[] = {
    {"", "Constant", 1, 0, 0, buildConstant},
    {"", "ConstantOfShape", 9, 1, 1, buildConstantOfShape},
    {"", "Dropout", 7, 1, 3, buildDropout},
    {"", "Identity", 1, 1, 1, buildIdentity, "", /*takesAnyValue=*/true},
    {"", "Range", 11, 3, 3, buildRange},
    {"", "Shape", 1, 1, 1, buildShape},
    {"", "Size", 1, 1, 1, buildSize},
};

} // namespace

llvm::ArrayRef<OperatorEntry> constantOperators() { return kOperators; }

} // namespace autotune
