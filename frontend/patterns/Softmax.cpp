// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Softmax as exp(x - max) divided by its sum.
#include "frontend/patterns/Patterns.h"

#include <limits>

namespace autotune::patterns {

using llvm::StringRef;

namespace {

/// The greatest elements of rows; some exporters hold them above minus infinity.
const onnx::NodeProto *greatestOf(Matcher &m, StringRef value) {
  value = m.throughViews(value);
  if (const onnx::NodeProto *held = m.producer(value, "Max")) {
    auto rest = m.besideAnyNumber(*held);
    if (!rest || rest->second != -std::numeric_limits<double>::infinity())
      return nullptr;
    value = m.throughViews(rest->first);
  }
  return m.producer(value, "ReduceMax");
}

std::optional<SoftmaxPieces> piecesOf(Matcher &m, const onnx::NodeProto &node) {
  StringRef powers = node.input(0);
  std::optional<StringRef> sums;
  if (node.op_type() == "Div") {
    sums = node.input(1);
  } else if (!(sums = m.reciprocal(node.input(1)))) {
    sums = m.reciprocal(powers);
    powers = node.input(1);
  }
  const onnx::NodeProto *exponential = m.producer(powers, "Exp");
  const onnx::NodeProto *sum = sums && exponential ? m.producer(m.throughViews(*sums), "ReduceSum") : nullptr;
  const onnx::NodeProto *shifted = sum ? m.producer(exponential->input(0), "Sub") : nullptr;
  const onnx::NodeProto *greatest = shifted ? greatestOf(m, shifted->input(1)) : nullptr;
  if (!greatest || !m.same(sum->input(0), powers) || !m.same(greatest->input(0), shifted->input(0)))
    return std::nullopt;
  llvm::SmallVector<int64_t> axes = m.reductionAxes(*sum);
  if (axes.size() != 1 || axes != m.reductionAxes(*greatest) || !m.isRowOf(*sums, powers, axes) ||
      !m.isRowOf(shifted->input(1), powers, axes))
    return std::nullopt;
  return SoftmaxPieces{shifted->input(0), axes[0]};
}

} // namespace

std::optional<SoftmaxPieces> softmaxOf(Matcher &m, const onnx::NodeProto &node) {
  if (!node.domain().empty())
    return std::nullopt;
  if (node.op_type() == "Div" || node.op_type() == "Mul")
    return piecesOf(m, node);
  if (node.op_type() != "Softmax")
    return std::nullopt;
  int64_t rank = m.shape(node.input(0)).size(), axis = m.intAttribute(node, "axis", m.opset() < 13 ? 1 : -1);
  axis = axis < 0 ? axis + rank : axis;
  // Older versions fold all dimensions from the axis on.
  if (m.opset() < 13 && axis + 1 != rank)
    return std::nullopt;
  return SoftmaxPieces{node.input(0), axis};
}

std::optional<Idea> softmax(Matcher &m) {
  std::optional<SoftmaxPieces> found = piecesOf(m, m.root);
  std::optional<Idea> idea = found ? m.idea("softmax", "Softmax", found->x) : std::nullopt;
  if (idea)
    setAttribute(idea->node, "axis", found->axis);
  return idea;
}

} // namespace autotune::patterns
