// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Questions about the graph behind a node.
#include "frontend/patterns/Matcher.h"

#include "frontend/Emit.h"

#include <cmath>

namespace autotune {

using llvm::StringRef;

StringRef Matcher::resolved(StringRef value) {
  for (;;) {
    ImportedValue *found = import.find(value);
    const onnx::NodeProto *node = import.producer(value);
    if (!found || !found->value || !node || node->input_size() == 0)
      return value;
    ImportedValue *operand = import.find(node->input(0));
    if (!operand || operand->value != found->value)
      return value;
    value = node->input(0);
  }
}

const onnx::NodeProto *Matcher::producer(StringRef value) {
  if (value.empty() || --steps < 0 || --import.matchingBudget < 0 || constant(value))
    return nullptr;
  return import.producer(resolved(value));
}

const onnx::NodeProto *Matcher::producer(StringRef value, StringRef opType) {
  const onnx::NodeProto *node = producer(value);
  return node && node->domain().empty() && opType == node->op_type() ? node : nullptr;
}

bool Matcher::same(StringRef a, StringRef b) { return resolved(a) == resolved(b); }

const ConstantTensor *Matcher::constant(StringRef value) {
  ImportedValue *found = import.find(value);
  return found && found->constant ? &*found->constant : nullptr;
}

std::optional<double> Matcher::number(StringRef value) {
  const ConstantTensor *tensor = constant(value);
  if (!tensor || !isFloat(tensor->type()) || !(tensor->isSplat() || tensor->size() == 1))
    return std::nullopt;
  return tensor->floatAt(0);
}

bool Matcher::close(double found, double expected) {
  ElementType element = ElementType::F32;
  for (const std::string &input : root.input())
    if (ImportedValue *operand = import.find(input); operand && isFloat(operand->type))
      element = operand->type;
  double precision = element == ElementType::F16 ? 1e-3 : element == ElementType::BF16 ? 8e-3 : 4e-6;
  return std::abs(found - expected) <= precision * std::abs(expected);
}

bool Matcher::isNumber(StringRef value, double expected) {
  std::optional<double> found = number(value);
  return found && close(*found, expected);
}

llvm::ArrayRef<int64_t> Matcher::shape(StringRef value) {
  ImportedValue *found = import.find(value);
  return found ? llvm::ArrayRef<int64_t>(found->shape) : llvm::ArrayRef<int64_t>();
}

ElementType Matcher::type(StringRef value) {
  ImportedValue *found = import.find(value);
  return found ? found->type : ElementType::Bool;
}

std::optional<Shape> Matcher::broadcastRoot() {
  if (root.input_size() != 2)
    return std::nullopt;
  return broadcastShape(shape(root.input(0)), shape(root.input(1)));
}

static const onnx::AttributeProto *attribute(const onnx::NodeProto &node, StringRef name) {
  for (const onnx::AttributeProto &candidate : node.attribute())
    if (name == candidate.name())
      return &candidate;
  return nullptr;
}

int64_t Matcher::intAttribute(const onnx::NodeProto &node, StringRef name, int64_t fallback) {
  const onnx::AttributeProto *found = attribute(node, name);
  return found ? found->i() : fallback;
}

double Matcher::floatAttribute(const onnx::NodeProto &node, StringRef name, double fallback) {
  const onnx::AttributeProto *found = attribute(node, name);
  return found ? found->f() : fallback;
}

std::vector<int64_t> Matcher::intsAttribute(const onnx::NodeProto &node, StringRef name) {
  const onnx::AttributeProto *found = attribute(node, name);
  return found ? std::vector<int64_t>(found->ints().begin(), found->ints().end()) : std::vector<int64_t>();
}

llvm::SmallVector<int64_t> Matcher::reductionAxes(const onnx::NodeProto &node) {
  int64_t rank = shape(node.input(0)).size();
  std::vector<int64_t> axes = intsAttribute(node, "axes");
  if (node.input_size() > 1 && !node.input(1).empty()) {
    const ConstantTensor *operand = constant(node.input(1));
    if (!operand || isFloat(operand->type()))
      return {};
    axes = operand->toInts();
  }
  if (axes.empty() && intAttribute(node, "noop_with_empty_axes", 0))
    return {};
  llvm::SmallVector<int64_t> sorted;
  for (int64_t axis : axes.empty() ? firstIntegers(rank) : axes)
    sorted.push_back(axis < 0 ? axis + rank : axis);
  llvm::sort(sorted);
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  return sorted;
}

bool Matcher::isRowOf(StringRef value, StringRef x, llvm::ArrayRef<int64_t> axes) {
  Shape kept = reducedShape(shape(x), axes, /*keepDims=*/true);
  return shape(value) == llvm::ArrayRef<int64_t>(kept);
}

std::optional<StringRef> Matcher::besideNumber(const onnx::NodeProto &node, double expected) {
  if (node.input_size() != 2)
    return std::nullopt;
  if (isNumber(node.input(1), expected))
    return node.input(0);
  if (isNumber(node.input(0), expected))
    return node.input(1);
  return std::nullopt;
}

std::optional<std::pair<StringRef, double>> Matcher::besideAnyNumber(const onnx::NodeProto &node) {
  if (node.input_size() != 2)
    return std::nullopt;
  for (int i : {1, 0})
    if (std::optional<double> found = number(node.input(i)))
      return std::pair<StringRef, double>(node.input(1 - i), *found);
  return std::nullopt;
}

StringRef Matcher::throughCasts(StringRef value) {
  while (const onnx::NodeProto *cast = producer(value, "Cast")) {
    if (!isFloat(type(cast->input(0))) || !isFloat(type(cast->output(0))))
      break;
    value = cast->input(0);
  }
  return value;
}

StringRef Matcher::throughViews(StringRef value) {
  for (;;) {
    value = throughCasts(value);
    const onnx::NodeProto *node = producer(value);
    bool isView =
        node && node->domain().empty() &&
        llvm::is_contained({"Reshape", "Unsqueeze", "Squeeze", "Expand", "Flatten"}, node->op_type()) &&
        elementCount(shape(node->input(0))) == elementCount(shape(value));
    if (!isView)
      return value;
    value = node->input(0);
  }
}

std::optional<StringRef> Matcher::squareRoot(StringRef value) {
  const onnx::NodeProto *node = producer(throughViews(value));
  if (!node || !node->domain().empty())
    return std::nullopt;
  if (node->op_type() == "Sqrt" || (node->op_type() == "Pow" && isNumber(node->input(1), 0.5)))
    return node->input(0);
  return std::nullopt;
}

std::optional<StringRef> Matcher::reciprocal(StringRef value) {
  if (const onnx::NodeProto *node = producer(value, "Reciprocal"))
    return node->input(0);
  const onnx::NodeProto *node = producer(value, "Div");
  if (node && isNumber(node->input(0), 1))
    return node->input(1);
  return std::nullopt;
}

std::optional<StringRef> Matcher::inverseRoot(StringRef value) {
  value = throughViews(value);
  if (std::optional<StringRef> divisor = reciprocal(value))
    return squareRoot(*divisor);
  const onnx::NodeProto *node = producer(value, "Pow");
  if (node && isNumber(node->input(1), -0.5))
    return node->input(0);
  return std::nullopt;
}

std::optional<StringRef> Matcher::square(StringRef value) {
  value = throughCasts(value);
  if (const onnx::NodeProto *node = producer(value, "Pow"))
    return isNumber(node->input(1), 2) ? std::optional<StringRef>(node->input(0)) : std::nullopt;
  const onnx::NodeProto *node = producer(value, "Mul");
  if (node && same(node->input(0), node->input(1)))
    return node->input(0);
  return std::nullopt;
}

namespace {

std::optional<Polynomial> multiplied(const Polynomial &a, const Polynomial &b) {
  Polynomial result = {};
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < b.size(); ++j) {
      double term = a[i] * b[j];
      if (term == 0)
        continue;
      if (i + j >= result.size())
        return std::nullopt;
      result[i + j] += term;
    }
  return result;
}

Polynomial sum(const Polynomial &a, const Polynomial &b, double factor) {
  Polynomial result = a;
  for (size_t i = 0; i < a.size(); ++i)
    result[i] += factor * b[i];
  return result;
}

constexpr unsigned kMaxDepth = 8;
// The longest spelling known has 25.
constexpr size_t kMaxPieces = 64;

} // namespace

std::optional<Polynomial> Matcher::polynomial(StringRef value, StringRef x, unsigned depth) {
  if (same(value, x))
    return Polynomial{0, 1, 0, 0};
  if (std::optional<double> found = number(value))
    return Polynomial{*found, 0, 0, 0};
  const onnx::NodeProto *node = producer(value);
  if (!node || !node->domain().empty() || depth > kMaxDepth || node->input_size() == 0)
    return std::nullopt;
  std::optional<Polynomial> left = polynomial(node->input(0), x, depth + 1);
  if (!left)
    return std::nullopt;
  StringRef op = node->op_type();
  if (op == "Neg")
    return multiplied(*left, {-1, 0, 0, 0});
  if (op == "Pow") {
    bool cubed = isNumber(node->input(1), 3);
    std::optional<Polynomial> squared =
        cubed || isNumber(node->input(1), 2) ? multiplied(*left, *left) : std::nullopt;
    return squared && cubed ? multiplied(*squared, *left) : squared;
  }
  if ((op != "Add" && op != "Sub" && op != "Mul" && op != "Div") || node->input_size() != 2)
    return std::nullopt;
  std::optional<Polynomial> right = polynomial(node->input(1), x, depth + 1);
  if (!right)
    return std::nullopt;
  if (op == "Add" || op == "Sub")
    return sum(*left, *right, op == "Add" ? 1 : -1);
  if (op == "Mul")
    return multiplied(*left, *right);
  bool isConstant = (*right)[0] != 0 && (*right)[1] == 0 && (*right)[2] == 0 && (*right)[3] == 0;
  return isConstant ? multiplied(*left, {1 / (*right)[0], 0, 0, 0}) : std::nullopt;
}

std::optional<Polynomial> Matcher::polynomial(StringRef value, StringRef x) {
  return polynomial(value, x, 0);
}

bool Matcher::isPolynomial(StringRef value, StringRef x, const Polynomial &expected) {
  std::optional<Polynomial> found = polynomial(value, x, 0);
  return found && llvm::all_of(llvm::zip(*found, expected),
                               [&](auto pair) { return close(std::get<0>(pair), std::get<1>(pair)); });
}

void Matcher::collectPieces(llvm::ArrayRef<StringRef> operands) {
  interior.clear();
  llvm::StringSet<> leaves;
  for (StringRef operand : operands)
    if (!operand.empty())
      leaves.insert(resolved(operand));
  llvm::SmallVector<const onnx::NodeProto *, 16> open = {&root};
  llvm::SmallPtrSet<const onnx::NodeProto *, 16> seen = {&root};
  while (!open.empty() && interior.size() < kMaxPieces) {
    const onnx::NodeProto *next = open.pop_back_val();
    for (const std::string &input : next->input()) {
      if (leaves.contains(input) || leaves.contains(resolved(input)) || constant(input))
        continue;
      const onnx::NodeProto *node = import.producer(input);
      if (node && seen.insert(node).second) {
        interior.push_back(node);
        open.push_back(node);
      }
    }
  }
}

bool Matcher::costsMore(llvm::ArrayRef<StringRef> operands) {
  collectPieces(operands);
  if (interior.size() >= kMaxPieces)
    return true;
  llvm::StringMap<unsigned> readers;
  auto read = [&](const onnx::NodeProto &node) {
    for (const std::string &input : node.input())
      ++readers[input];
  };
  read(root);
  for (const onnx::NodeProto *piece : interior)
    read(*piece);
  std::optional<Shape> result = broadcastRoot();
  int64_t size = elementCount(result ? llvm::ArrayRef<int64_t>(*result) : shape(root.input(0)));
  return llvm::any_of(interior, [&](const onnx::NodeProto *piece) {
    StringRef op = piece->op_type();
    if (op == "Transpose" || op == "Reshape" || op == "Identity" || op == "Cast" || op == "Unsqueeze")
      return false;
    // Statistics of rows are cheap beside the rows.
    return llvm::any_of(piece->output(), [&](const std::string &output) {
      return import.readerCount(output) > readers.lookup(output) && elementCount(shape(output)) > size / 4;
    });
  });
}

onnx::NodeProto Matcher::node(StringRef opType, llvm::ArrayRef<StringRef> operands) const {
  onnx::NodeProto node;
  node.set_op_type(opType.str());
  node.set_name(nodeLabel(root));
  for (StringRef operand : operands)
    node.add_input(operand.str());
  *node.mutable_output() = root.output();
  return node;
}

std::optional<Idea> Matcher::idea(StringRef name, StringRef opType, llvm::ArrayRef<StringRef> operands) {
  const OperatorEntry *entry = findOperator("", opType, kNewestOpset);
  if (!entry || costsMore(operands))
    return std::nullopt;
  return Idea{name, entry->build, node(opType, operands)};
}

namespace {

onnx::AttributeProto &newAttribute(onnx::NodeProto &node, StringRef name,
                                   onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto &attribute = *node.add_attribute();
  attribute.set_name(name.str());
  attribute.set_type(type);
  return attribute;
}

} // namespace

void setAttribute(onnx::NodeProto &node, StringRef name, double value) {
  newAttribute(node, name, onnx::AttributeProto::FLOAT).set_f(static_cast<float>(value));
}
void setAttribute(onnx::NodeProto &node, StringRef name, int64_t value) {
  newAttribute(node, name, onnx::AttributeProto::INT).set_i(value);
}
void setAttribute(onnx::NodeProto &node, StringRef name, StringRef value) {
  newAttribute(node, name, onnx::AttributeProto::STRING).set_s(value.str());
}
void setAttribute(onnx::NodeProto &node, StringRef name, llvm::ArrayRef<int64_t> values) {
  onnx::AttributeProto &attribute = newAttribute(node, name, onnx::AttributeProto::INTS);
  for (int64_t value : values)
    attribute.add_ints(value);
}

} // namespace autotune
