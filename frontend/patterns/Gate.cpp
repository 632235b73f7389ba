// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of a value and a curve, and the curves that have several spellings.
#include "frontend/patterns/Gate.h"

#include "frontend/Emit.h"

#include <limits>

namespace autotune::patterns {

using llvm::StringRef;

namespace {

// Four products deep are 0.5 · (x · (1 + …)) and its kin.
constexpr unsigned kMaxDepth = 3;

bool isProduct(const onnx::NodeProto &node) {
  return node.domain().empty() && node.input_size() == 2 &&
         (node.op_type() == "Mul" || node.op_type() == "Div");
}

/// All values that could be factors, outermost first.
void collectFactors(Matcher &m, const onnx::NodeProto &node, unsigned depth,
                    llvm::SmallVectorImpl<StringRef> &factors) {
  if (!isProduct(node))
    return;
  for (const std::string &input : node.input()) {
    if (m.constant(input))
      continue;
    factors.push_back(input);
    const onnx::NodeProto *inner = depth > 0 ? m.producer(input) : nullptr;
    if (inner)
      collectFactors(m, *inner, depth - 1, factors);
  }
}

struct Product {
  StringRef x, curve;
  unsigned xs = 0, curves = 0;
  double factor = 1;
};

/// Multiplies out `node` until only x, the curve and numbers are left.
bool multiply(Matcher &m, const onnx::NodeProto &node, unsigned depth, Product &product) {
  if (!isProduct(node))
    return false;
  for (int i = 0; i < 2; ++i) {
    StringRef input = node.input(i);
    bool divides = i == 1 && node.op_type() == "Div";
    std::optional<double> number = m.number(input);
    if (number && (*number != 0 || !divides)) {
      product.factor *= divides ? 1 / *number : *number;
      continue;
    }
    if (divides)
      return false;
    if (m.same(input, product.curve)) {
      ++product.curves;
    } else if (m.same(input, product.x)) {
      ++product.xs;
    } else {
      const onnx::NodeProto *inner = depth > 0 ? m.producer(input) : nullptr;
      if (!inner || !multiply(m, *inner, depth - 1, product))
        return false;
    }
  }
  return product.xs <= 1 && product.curves <= 1;
}

} // namespace

std::optional<Gate> gate(Matcher &m, llvm::ArrayRef<StringRef> curves,
                         llvm::function_ref<std::optional<double>(StringRef, StringRef)> gainOf) {
  llvm::SmallVector<StringRef> factors;
  collectFactors(m, m.root, kMaxDepth, factors);
  std::optional<Shape> result = m.broadcastRoot();
  for (StringRef curve : factors) {
    const onnx::NodeProto *node = m.producer(curve);
    if (!result || !node || !node->domain().empty() ||
        !llvm::is_contained(curves, StringRef(node->op_type())))
      continue;
    for (StringRef x : factors) {
      if (m.shape(x) != llvm::ArrayRef<int64_t>(*result) || m.same(curve, x))
        continue;
      std::optional<double> gain = gainOf(curve, x);
      Product product{x, curve};
      if (gain && multiply(m, m.root, kMaxDepth, product) && product.xs == 1 && product.curves == 1)
        return Gate{x, *gain * product.factor};
    }
  }
  return std::nullopt;
}

namespace {

/// The bounds of a Clip that are known numbers; absent ones are infinite.
std::optional<Clamp> clipBounds(Matcher &m, const onnx::NodeProto &node) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Clamp result{node.input(0), m.floatAttribute(node, "min", -kInfinity),
               m.floatAttribute(node, "max", kInfinity)};
  for (int i = 1; i < node.input_size(); ++i) {
    if (node.input(i).empty())
      continue;
    std::optional<double> bound = m.number(node.input(i));
    if (!bound)
      return std::nullopt;
    (i == 1 ? result.low : result.high) = *bound;
  }
  return result;
}

} // namespace

std::optional<Clamp> clamp(Matcher &m, const onnx::NodeProto &node) {
  StringRef op = node.op_type();
  if (op == "Clip")
    return clipBounds(m, node);
  if (op != "Min")
    return std::nullopt;
  auto upper = m.besideAnyNumber(node);
  const onnx::NodeProto *inner = upper ? m.producer(upper->first) : nullptr;
  if (!inner || !inner->domain().empty())
    return std::nullopt;
  if (inner->op_type() == "Relu")
    return Clamp{inner->input(0), 0, upper->second};
  auto lower = inner->op_type() == "Max" ? m.besideAnyNumber(*inner) : std::nullopt;
  if (!lower)
    return std::nullopt;
  return Clamp{lower->first, lower->second, upper->second};
}

std::optional<StringRef> sigmoidArgument(Matcher &m, const onnx::NodeProto &node) {
  if (node.op_type() == "Sigmoid")
    return node.input(0);
  std::optional<StringRef> divisor;
  if (node.op_type() == "Reciprocal")
    divisor = node.input(0);
  else if (node.op_type() == "Div" && m.isNumber(node.input(0), 1))
    divisor = node.input(1);
  const onnx::NodeProto *add = divisor ? m.producer(*divisor, "Add") : nullptr;
  std::optional<StringRef> power = add ? m.besideNumber(*add, 1) : std::nullopt;
  const onnx::NodeProto *exponential = power ? m.producer(*power, "Exp") : nullptr;
  const onnx::NodeProto *negative = exponential ? m.producer(exponential->input(0), "Neg") : nullptr;
  return negative ? std::optional<StringRef>(negative->input(0)) : std::nullopt;
}

std::optional<StringRef> softplusArgument(Matcher &m, const onnx::NodeProto &node) {
  if (node.op_type() == "Softplus")
    return node.input(0);
  const onnx::NodeProto *add = node.op_type() == "Log" ? m.producer(node.input(0), "Add") : nullptr;
  std::optional<StringRef> power = add ? m.besideNumber(*add, 1) : std::nullopt;
  const onnx::NodeProto *exponential = power ? m.producer(*power, "Exp") : nullptr;
  return exponential ? std::optional<StringRef>(exponential->input(0)) : std::nullopt;
}

} // namespace autotune::patterns
