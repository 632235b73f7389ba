// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention: softmax of scaled and masked scores, times values.
#include "frontend/Emit.h"
#include "frontend/patterns/IdeaBuilders.h"
#include "frontend/patterns/Patterns.h"

#include <set>

namespace autotune::patterns {

using llvm::StringRef;

namespace {

struct Scores {
  StringRef query, key, bias, mask;
  bool keyTransposed = false;
  double scale = 1;
  std::optional<int64_t> causal;
  std::optional<double> fill;
  bool inverted = false; // the mask says which scores are replaced
};

/// What is at most this far below every other score has no weight: exp of the difference is 0 in all float
/// types.
constexpr double kMasked = -1e4;

struct Causal {
  int64_t offset = -1;
  double fill = kMasked;
};

/// Row i of a constant mask lets columns 0 … i + offset through and no others. A float mask has one value for
/// those.
std::optional<Causal> causalMask(const ConstantTensor &mask, bool inverted, int64_t rows, int64_t columns) {
  llvm::ArrayRef<int64_t> shape = mask.shape();
  bool isMatrix = shape.size() >= 2 && mask.size() == rows * columns && shape[shape.size() - 2] == rows;
  if (!isMatrix || mask.isSplat())
    return std::nullopt;
  bool isFloatMask = isFloat(mask.type());
  auto at = [&](int64_t i, int64_t j) {
    int64_t index = i * columns + j;
    return isFloatMask ? mask.floatAt(index) : (mask.intAt(index) != 0) != inverted ? 0 : kMasked;
  };
  Causal causal{-1, at(0, columns - 1)};
  while (causal.offset + 1 < columns && at(0, causal.offset + 1) == 0)
    ++causal.offset;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      if (at(i, j) != (j <= i + causal.offset ? 0 : causal.fill))
        return std::nullopt;
  return causal.offset >= 0 && causal.fill <= kMasked ? std::optional(causal) : std::nullopt;
}

/// The letters of an equation of two operands.
struct Equation {
  std::string left, right, result;
};
std::optional<Equation> equationOf(const onnx::NodeProto &node) {
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    std::string text = attribute.name() == "equation" ? attribute.s() : "";
    llvm::erase(text, ' ');
    auto [operands, result] = StringRef(text).split("->");
    auto [left, right] = operands.split(',');
    if (!result.empty() && !right.contains(',') && !StringRef(text).contains('.'))
      return Equation{left.str(), right.str(), result.str()};
  }
  return std::nullopt;
}

/// A product of batches of matrices; `transposes` when the rows of the right operand are multiplied.
struct Product {
  StringRef left, right;
  bool transposes = false;
};
std::optional<Product> productOf(const onnx::NodeProto *node) {
  if (!node || !node->domain().empty() || node->input_size() != 2)
    return std::nullopt;
  if (node->op_type() == "MatMul")
    return Product{node->input(0), node->input(1), false};
  std::optional<Equation> equation = node->op_type() == "Einsum" ? equationOf(*node) : std::nullopt;
  if (!equation || equation->left.size() < 2 || equation->left.size() != equation->right.size())
    return std::nullopt;
  StringRef left = equation->left, right = equation->right, batch = left.drop_back(2);
  char i = left[left.size() - 2], k = left.back(), first = right[right.size() - 2], second = right.back();
  if (!right.starts_with(batch) || (first == k) == (second == k))
    return std::nullopt;
  char j = first == k ? second : first;
  std::string letters = batch.str() + i + j;
  std::set<char> distinct(letters.begin(), letters.end());
  if (equation->result != letters || distinct.size() != letters.size() || !distinct.insert(k).second)
    return std::nullopt;
  return Product{node->input(0), node->input(1), second == k};
}

/// Products and quotients by one number.
StringRef withoutScale(Matcher &m, StringRef value, double &scale) {
  for (;;) {
    const onnx::NodeProto *node = m.producer(value);
    bool divides = node && node->op_type() == "Div";
    if (!node || !node->domain().empty() || (node->op_type() != "Mul" && !divides))
      return value;
    auto rest = m.besideAnyNumber(*node);
    if (!rest || rest->second == 0 || m.shape(rest->first) != m.shape(value) ||
        (divides && rest->first != StringRef(node->input(0))))
      return value;
    scale *= divides ? 1 / rest->second : rest->second;
    value = rest->first;
  }
}

/// Swaps the last two dimensions and no others.
bool swapsMatrices(Matcher &m, const onnx::NodeProto &node) {
  std::vector<int64_t> permutation = m.intsAttribute(node, "perm");
  if (permutation.size() < 2)
    return false;
  std::swap(permutation[permutation.size() - 2], permutation.back());
  return llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size()));
}

bool readProduct(Matcher &m, const onnx::NodeProto *node, Scores &scores) {
  std::optional<Product> product = productOf(node);
  if (!product)
    return false;
  scores.query = withoutScale(m, product->left, scores.scale);
  scores.key = withoutScale(m, product->right, scores.scale);
  scores.keyTransposed = !product->transposes;
  const onnx::NodeProto *transposed = m.producer(scores.key, "Transpose");
  if (scores.keyTransposed && transposed && swapsMatrices(m, *transposed)) {
    scores.key = withoutScale(m, transposed->input(0), scores.scale);
    scores.keyTransposed = false;
  }
  return true;
}

/// A mask on top of the scores: it selects (with a fill) or is added. Those nearer to the softmax come first;
/// what is selected must not change any more.
bool addMask(Matcher &m, StringRef mask, std::optional<double> fill, bool inverted,
             llvm::ArrayRef<int64_t> shape, Scores &scores) {
  std::optional<Shape> joined = broadcastShape(shape, m.shape(mask));
  if (!joined || llvm::ArrayRef<int64_t>(*joined) != shape || shape.size() < 2)
    return false;
  auto addFill = [&](double value) { scores.fill = std::max(scores.fill.value_or(value), value); };
  const ConstantTensor *constant = m.constant(mask);
  if (constant && !scores.causal && (!fill || *fill <= kMasked))
    if (auto causal = causalMask(*constant, inverted, shape[shape.size() - 2], shape.back())) {
      scores.causal = causal->offset;
      addFill(fill.value_or(causal->fill));
      return true;
    }
  if (!scores.bias.empty() || (fill && !scores.mask.empty()))
    return false;
  if (!fill) {
    scores.bias = mask;
    return true;
  }
  scores.mask = mask;
  scores.inverted = inverted;
  addFill(*fill);
  return true;
}

bool readScores(Matcher &m, StringRef value, unsigned depth, Scores &scores);

/// Where(condition, score, fill) or Where(condition, fill, score).
bool readSelection(Matcher &m, const onnx::NodeProto &node, llvm::ArrayRef<int64_t> shape, unsigned depth,
                   Scores &scores) {
  for (int i : {1, 2})
    if (std::optional<double> fill = m.number(node.input(3 - i)))
      return m.shape(node.input(i)) == shape && addMask(m, node.input(0), fill, i == 2, shape, scores) &&
             readScores(m, node.input(i), depth, scores);
  return false;
}

/// Sums and selections come off first, then factors, then the product.
bool readScores(Matcher &m, StringRef value, unsigned depth, Scores &scores) {
  const onnx::NodeProto *node = m.producer(value);
  if (!node || !node->domain().empty() || depth == 0)
    return false;
  llvm::ArrayRef<int64_t> shape = m.shape(value);
  if (node->op_type() == "Where" && node->input_size() == 3)
    return readSelection(m, *node, shape, depth - 1, scores);
  if (node->op_type() == "Add" && node->input_size() == 2) {
    for (int i : {0, 1}) {
      Scores attempt = scores;
      if (m.shape(node->input(i)) == shape &&
          addMask(m, node->input(1 - i), std::nullopt, false, shape, attempt) &&
          readScores(m, node->input(i), depth - 1, attempt)) {
        scores = attempt;
        return true;
      }
    }
    return false;
  }
  return readProduct(m, m.producer(withoutScale(m, value, scores.scale)), scores);
}

bool shapesFit(Matcher &m, const Scores &scores, StringRef value) {
  ElementType type = m.type(scores.query);
  if (!isFloat(type) || m.type(scores.key) != type || m.type(value) != type ||
      (!scores.bias.empty() && m.type(scores.bias) != type))
    return false;
  llvm::ArrayRef<int64_t> query = m.shape(scores.query), key = m.shape(scores.key), values = m.shape(value);
  size_t rank = query.size();
  if (rank < 2 || key.size() != rank || values.size() != rank || query.drop_back(2) != key.drop_back(2) ||
      query.drop_back(2) != values.drop_back(2))
    return false;
  int64_t depth = scores.keyTransposed ? key[rank - 2] : key[rank - 1];
  int64_t columns = scores.keyTransposed ? key[rank - 1] : key[rank - 2];
  return depth == query.back() && columns == values[rank - 2];
}

} // namespace

std::optional<Idea> attention(Matcher &m) {
  std::optional<Product> product = productOf(&m.root);
  const onnx::NodeProto *weights =
      product && !product->transposes ? m.producer(m.throughCasts(product->left)) : nullptr;
  std::optional<SoftmaxPieces> found = weights ? softmaxOf(m, *weights) : std::nullopt;
  Scores scores;
  constexpr unsigned kMaxMasks = 3;
  if (!found || found->axis + 1 != static_cast<int64_t>(m.shape(product->left).size()) ||
      !readScores(m, m.throughCasts(found->x), kMaxMasks + 1, scores) ||
      !shapesFit(m, scores, product->right))
    return std::nullopt;
  StringRef operands[] = {scores.query, scores.key, product->right, scores.bias, scores.mask};
  if (m.costsMore(operands))
    return std::nullopt;
  Idea idea{"attention", buildAttention, m.node("Attention", operands)};
  setAttribute(idea.node, "scale", scores.scale);
  setAttribute(idea.node, "key_transposed", static_cast<int64_t>(scores.keyTransposed));
  setAttribute(idea.node, "inverted", static_cast<int64_t>(scores.inverted));
  if (scores.causal)
    setAttribute(idea.node, "causal", *scores.causal);
  if (scores.fill)
    setAttribute(idea.node, "fill", *scores.fill);
  return idea;
}

} // namespace autotune::patterns
