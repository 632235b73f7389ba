// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Einsum: pairs of operands as batched matrix products.
#include "frontend/MatMul.h"
#include "frontend/OperatorTable.h"
#include "frontend/Scalar.h"

#include "llvm/ADT/StringExtras.h"

namespace autotune {

using mlir::Value;

namespace {

/// A tensor with one letter for each dimension. Dimensions of an ellipsis have the letters '0', '1', … from the right.
struct Term {
  Value value;
  std::string labels;
};

using Sizes = std::map<char, int64_t>;

Shape sizesOf(llvm::StringRef labels, const Sizes &sizes) {
  Shape shape;
  for (char label : labels)
    shape.push_back(sizes.at(label));
  return shape;
}

mlir::AffineMap mapOf(Builder &b, llvm::StringRef labels, llvm::StringRef loops) {
  llvm::SmallVector<mlir::AffineExpr> dims;
  for (char label : labels)
    dims.push_back(b.getAffineDimExpr(loops.find(label)));
  return mlir::AffineMap::get(loops.size(), 0, dims, b.getContext());
}

/// Repeated labels of one operand read its diagonal.
Term withoutRepeats(Builder &b, Term term, const Sizes &sizes) {
  std::string unique;
  for (char label : term.labels)
    if (!llvm::is_contained(unique, label))
      unique += label;
  if (unique == term.labels)
    return term;
  ElementwiseOperand operand{term.value, mapOf(b, term.labels, unique), {}};
  return {elementwise(b, sizesOf(unique, sizes), elementOf(term.value), operand,
                      [](Builder &, mlir::ValueRange v) { return v[0]; }),
          unique};
}

/// Sums over the labels that nobody needs any more.
Term summed(Builder &b, Term term, llvm::StringRef needed) {
  llvm::SmallVector<int64_t> axes;
  std::string kept;
  for (auto [axis, label] : llvm::enumerate(term.labels)) {
    if (needed.contains(label))
      kept += label;
    else
      axes.push_back(axis);
  }
  if (axes.empty())
    return term;
  Value sum = reduced(b, term.value, axes, scalarConstant(b, elementOf(term.value), 0),
                      [](Builder &inner, mlir::ValueRange v) { return scalar::add(inner, v[0], v[1]); });
  return {sum, kept};
}

Value permuted(Builder &b, const Term &term, llvm::StringRef order) {
  llvm::SmallVector<int64_t> permutation;
  for (char label : order)
    permutation.push_back(term.labels.find(label));
  return transposed(b, term.value, permutation);
}

/// Labels that are shared and needed are the batch; shared and not needed, contracted; the others, rows and columns.
mlir::FailureOr<Term> multiplied(NodeContext &node, Term left, Term right, llvm::StringRef needed, const Sizes &sizes) {
  Builder &b = node.b;
  std::string batch, inner, rows, columns;
  for (char label : left.labels) {
    if (!llvm::is_contained(right.labels, label))
      rows += label;
    else
      (needed.contains(label) ? batch : inner) += label;
  }
  for (char label : right.labels)
    if (!llvm::is_contained(left.labels, label))
      columns += label;
  auto total = [&](llvm::StringRef labels) { return elementCount(sizesOf(labels, sizes)); };
  Value x = reshapeTo(b, permuted(b, left, batch + rows + inner), {total(batch), total(rows), total(inner)});
  Value y = reshapeTo(b, permuted(b, right, batch + inner + columns), {total(batch), total(inner), total(columns)});
  mlir::FailureOr<Value> product = matrixProduct(node, x, y, elementOf(x));
  if (failed(product))
    return mlir::failure();
  std::string labels = batch + rows + columns;
  return Term{reshapeTo(b, *product, sizesOf(labels, sizes)), labels};
}

/// "…" in `text` becomes the letters of its `count` dimensions.
std::string expanded(llvm::StringRef text, int64_t count) {
  std::string letters;
  for (int64_t i = count; i > 0; --i)
    letters += static_cast<char>('0' + i - 1);
  std::string result;
  while (!text.empty()) {
    if (text.consume_front("..."))
      result += letters;
    else {
      if (text[0] != ' ')
        result += text[0];
      text = text.drop_front();
    }
  }
  return result;
}

/// Without "->", the output has the labels that occur once, in alphabetical order, after the ellipsis.
std::string implicitOutput(llvm::ArrayRef<std::string> operands) {
  std::map<char, int> counts;
  for (const std::string &labels : operands)
    for (char label : labels)
      ++counts[label];
  std::string ellipsis, letters;
  for (auto [label, count] : counts) {
    if (llvm::isDigit(label))
      ellipsis.insert(ellipsis.begin(), label);
    else if (count == 1)
      letters += label;
  }
  return ellipsis + letters;
}

struct Equation {
  std::vector<std::string> operands;
  std::string output;
  Sizes sizes;
};

mlir::FailureOr<Equation> parseEquation(NodeContext &node) {
  std::string text = node.stringAttribute("equation", "");
  auto [left, right] = llvm::StringRef(text).split("->");
  llvm::SmallVector<llvm::StringRef> parts;
  left.split(parts, ',');
  if (parts.size() != node.inputCount())
    return node.fail("equation '" + text + "' has " + llvm::Twine(parts.size()) + " operands, the node " +
                     llvm::Twine(node.inputCount()));
  Equation equation;
  int64_t widest = 0;
  for (auto [i, part] : llvm::enumerate(parts)) {
    int64_t letters = llvm::count_if(part, llvm::isAlpha);
    int64_t hidden = part.contains("...") ? node.rank(i) - letters : 0;
    if (hidden < 0 || hidden > 9)
      return node.fail("equation '" + text + "' does not fit operand " + shapeText(node.shape(i)));
    widest = std::max(widest, hidden);
    equation.operands.push_back(expanded(part, hidden));
  }
  for (auto [i, labels] : llvm::enumerate(equation.operands)) {
    if (static_cast<int64_t>(labels.size()) != node.rank(i))
      return node.fail("equation '" + text + "' does not fit operand " + shapeText(node.shape(i)));
    for (auto [label, dim] : llvm::zip(labels, node.shape(i))) {
      int64_t &size = equation.sizes.try_emplace(label, dim).first->second;
      if (size != dim)
        return node.fail("dimension '" + llvm::Twine(label) + "' of '" + text + "' is both " + llvm::Twine(size) +
                         " and " + llvm::Twine(dim));
    }
  }
  equation.output = text.find("->") == std::string::npos ? implicitOutput(equation.operands) : expanded(right, widest);
  for (char label : equation.output)
    if (!equation.sizes.count(label) || llvm::count(equation.output, label) > 1)
      return node.fail("the output of equation '" + text + "' is not valid");
  return equation;
}

mlir::LogicalResult buildEinsum(NodeContext &node) {
  mlir::FailureOr<Equation> equation = parseEquation(node);
  if (failed(equation))
    return mlir::failure();
  for (size_t i = 0; i < node.inputCount(); ++i)
    if (node.type(i) != node.type(0) || node.type(0) == ElementType::Bool)
      return node.fail("operands are not numbers of one type");
  Builder &b = node.b;
  mlir::Type element = node.elementType(0), wide = accumulatorType(element);
  auto neededAfter = [&](size_t i) {
    std::string needed = equation->output;
    for (size_t k = i + 1; k < node.inputCount(); ++k)
      needed += equation->operands[k];
    return needed;
  };
  auto operand = [&](size_t i) {
    Term term{floatCast(b, node.input(i), wide), equation->operands[i]};
    return withoutRepeats(b, term, equation->sizes);
  };
  Term result = summed(b, operand(0), neededAfter(0));
  for (size_t i = 1; i < node.inputCount(); ++i) {
    Term next = summed(b, operand(i), neededAfter(i) + result.labels);
    Term previous = summed(b, result, neededAfter(i) + next.labels);
    mlir::FailureOr<Term> product = multiplied(node, previous, next, neededAfter(i), equation->sizes);
    if (failed(product))
      return mlir::failure();
    result = *product;
  }
  result = summed(b, result, equation->output);
  node.setResult(0, floatCast(b, permuted(b, result, equation->output), element));
  return mlir::success();
}

constexpr OperatorEntry kOperators[] = {
    {"", "Einsum", 12, 1, kAnyInputs, buildEinsum},
};

} // namespace

llvm::ArrayRef<OperatorEntry> einsumOperators() { return kOperators; }

} // namespace autotune
