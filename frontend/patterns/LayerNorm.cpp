// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layer normalisation and its form without the mean, with or without scale and bias.
#include "frontend/Emit.h"
#include "frontend/patterns/IdeaBuilders.h"
#include "frontend/patterns/Patterns.h"

namespace autotune::patterns {

using llvm::StringRef;

namespace {

/// What stands behind variance + epsilon.
struct Statistics {
  StringRef x;        // empty when the mean is taken as 0
  StringRef centered; // what is squared; empty when the variance is mean(x²) - mean(x)²
  llvm::SmallVector<int64_t> axes;
  double epsilon = 0;
};

struct Mean {
  StringRef operand;
  llvm::SmallVector<int64_t> axes;
};

/// ReduceMean, or a sum over the count of its terms; its shape may have changed since.
std::optional<Mean> meanOf(Matcher &m, StringRef value) {
  value = m.throughViews(value);
  if (const onnx::NodeProto *node = m.producer(value, "ReduceMean"))
    return Mean{node->input(0), m.reductionAxes(*node)};
  const onnx::NodeProto *node = m.producer(value);
  bool divides = node && node->op_type() == "Div";
  auto rest = node && (divides || node->op_type() == "Mul") ? m.besideAnyNumber(*node) : std::nullopt;
  if (!rest || (divides && rest->first != StringRef(node->input(0))))
    return std::nullopt;
  const onnx::NodeProto *sum = m.producer(m.throughViews(rest->first), "ReduceSum");
  if (!sum)
    return std::nullopt;
  Mean mean{sum->input(0), m.reductionAxes(*sum)};
  double count = 1;
  for (int64_t axis : mean.axes)
    count *= static_cast<double>(m.shape(mean.operand)[axis]);
  return m.close(rest->second, divides ? count : 1 / count) ? std::optional(mean) : std::nullopt;
}

bool isMean(Matcher &m, StringRef value, StringRef x, llvm::ArrayRef<int64_t> axes) {
  std::optional<Mean> mean = meanOf(m, value);
  return mean && m.same(m.throughCasts(mean->operand), m.throughCasts(x)) && llvm::equal(mean->axes, axes);
}

/// mean(x²) - mean(x)², possibly held above 0
std::optional<Statistics> differenceOfMeans(Matcher &m, StringRef variance) {
  if (const onnx::NodeProto *held = m.producer(variance, "Max"))
    if (std::optional<StringRef> rest = m.besideNumber(*held, 0))
      variance = m.throughViews(*rest);
  const onnx::NodeProto *difference = m.producer(variance, "Sub");
  if (!difference || m.shape(difference->input(0)) != m.shape(difference->input(1)))
    return std::nullopt;
  std::optional<Mean> squares = meanOf(m, difference->input(0));
  std::optional<StringRef> x = squares ? m.square(squares->operand) : std::nullopt;
  std::optional<StringRef> mean = x ? m.square(difference->input(1)) : std::nullopt;
  if (!mean || !isMean(m, *mean, *x, squares->axes))
    return std::nullopt;
  return Statistics{*x, {}, squares->axes};
}

std::optional<Statistics> statistics(Matcher &m, StringRef guarded) {
  const onnx::NodeProto *add = m.producer(m.throughViews(guarded), "Add");
  auto rest = add ? m.besideAnyNumber(*add) : std::nullopt;
  if (!rest || rest->second < 0)
    return std::nullopt;
  StringRef variance = m.throughViews(rest->first);
  std::optional<Statistics> result = differenceOfMeans(m, variance);
  if (!result) {
    std::optional<Mean> mean = meanOf(m, variance);
    std::optional<StringRef> root = mean ? m.square(mean->operand) : std::nullopt;
    if (!root)
      return std::nullopt;
    result = Statistics{{}, m.throughCasts(*root), mean->axes};
    const onnx::NodeProto *difference = m.producer(result->centered, "Sub");
    if (difference && isMean(m, difference->input(1), difference->input(0), result->axes))
      result->x = difference->input(0);
  }
  result->epsilon = rest->second;
  return result->axes.empty() ? std::nullopt : result;
}

struct Normal {
  StringRef x;
  llvm::SmallVector<int64_t> axes;
  double epsilon = 0;
  bool rms = false;
};

/// (x - mean) or x over `root`, which is the root of variance + epsilon or 1 over it; `centered` is the
/// numerator.
std::optional<Normal> normalOver(Matcher &m, StringRef centered, StringRef root, StringRef guarded) {
  std::optional<Statistics> found = statistics(m, guarded);
  if (!found || !m.isRowOf(root, centered, found->axes))
    return std::nullopt;
  if (found->x.empty()) {
    Normal normal{centered, found->axes, found->epsilon, /*rms=*/true};
    return m.same(m.throughCasts(centered), found->centered) ? std::optional(normal) : std::nullopt;
  }
  // Some exporters subtract twice, once for each reader.
  const onnx::NodeProto *difference = m.producer(m.throughCasts(centered), "Sub");
  if (!difference || !m.same(m.throughCasts(difference->input(0)), m.throughCasts(found->x)) ||
      !isMean(m, difference->input(1), found->x, found->axes) ||
      !m.isRowOf(difference->input(1), difference->input(0), found->axes))
    return std::nullopt;
  return Normal{difference->input(0), found->axes, found->epsilon, /*rms=*/false};
}

std::optional<Normal> normalOf(Matcher &m, const onnx::NodeProto *node) {
  if (!node || !node->domain().empty() || node->input_size() != 2)
    return std::nullopt;
  if (node->op_type() == "Div") {
    std::optional<StringRef> guarded = m.squareRoot(node->input(1));
    return guarded ? normalOver(m, node->input(0), node->input(1), *guarded) : std::nullopt;
  }
  if (node->op_type() != "Mul")
    return std::nullopt;
  for (int i : {1, 0})
    if (std::optional<StringRef> guarded = m.inverseRoot(node->input(i)))
      if (std::optional<Normal> normal = normalOver(m, node->input(1 - i), node->input(i), *guarded))
        return normal;
  return std::nullopt;
}

/// A normalised value, possibly rounded to the 16-bit type that x had before it was widened.
std::optional<Normal> normalOf(Matcher &m, StringRef value) {
  const onnx::NodeProto *node = m.producer(value);
  if (!node || node->op_type() != "Cast")
    return normalOf(m, node);
  std::optional<Normal> normal = normalOf(m, m.producer(node->input(0)));
  const onnx::NodeProto *widened = normal ? m.producer(normal->x, "Cast") : nullptr;
  if (!widened || m.type(widened->input(0)) != m.type(value))
    return std::nullopt;
  normal->x = widened->input(0);
  return normal;
}

/// Scales and biases change along the normalised axes only.
bool isParameter(Matcher &m, StringRef value, const Normal &normal) {
  llvm::ArrayRef<int64_t> shape = m.shape(value), whole = m.shape(normal.x);
  if (shape.size() > whole.size() || m.type(value) != m.type(normal.x))
    return false;
  size_t shift = whole.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i) {
    bool isAxis = llvm::is_contained(normal.axes, static_cast<int64_t>(shift + i));
    if (shape[i] != 1 && (!isAxis || shape[i] != whole[shift + i]))
      return false;
  }
  return true;
}

struct Affine {
  Normal normal;
  StringRef scale, bias;
};

/// centered · (scale / root)
std::optional<Affine> scaledInverse(Matcher &m, StringRef centered, StringRef factor) {
  const onnx::NodeProto *product = m.producer(factor, "Mul");
  for (int i : {1, 0}) {
    std::optional<StringRef> guarded = product ? m.inverseRoot(product->input(1 - i)) : std::nullopt;
    std::optional<Normal> normal =
        guarded ? normalOver(m, centered, product->input(1 - i), *guarded) : std::nullopt;
    if (normal && isParameter(m, product->input(i), *normal))
      return Affine{*normal, product->input(i), {}};
  }
  return std::nullopt;
}

/// scale · normal
std::optional<Affine> scaledNormal(Matcher &m, const onnx::NodeProto &node) {
  if (node.op_type() == "Mul" && node.domain().empty())
    for (int i : {1, 0})
      if (std::optional<Affine> found = scaledInverse(m, node.input(1 - i), node.input(i)))
        return found;
  if (node.op_type() == "Mul" && node.domain().empty())
    for (int i : {1, 0})
      if (std::optional<Normal> normal = normalOf(m, StringRef(node.input(1 - i))))
        if (isParameter(m, node.input(i), *normal))
          return Affine{*normal, node.input(i), {}};
  if (std::optional<Normal> normal = normalOf(m, &node))
    return Affine{*normal, {}, {}};
  return std::nullopt;
}

/// x · s + (bias - mean · s) with s = scale / deviation
std::optional<Affine> folded(Matcher &m, StringRef product, StringRef shift) {
  const onnx::NodeProto *scaled = m.producer(product, "Mul"), *difference = m.producer(shift, "Sub");
  const onnx::NodeProto *offset = difference ? m.producer(difference->input(1), "Mul") : nullptr;
  if (!scaled || !offset)
    return std::nullopt;
  for (int i : {1, 0}) {
    StringRef x = scaled->input(1 - i), factor = scaled->input(i);
    int j = m.same(offset->input(1), factor) ? 1 : 0;
    if (!m.same(offset->input(j), factor))
      continue;
    const onnx::NodeProto *product = m.producer(factor, "Mul");
    for (int k : {-1, 0, 1}) {
      if (k >= 0 && !product)
        continue;
      StringRef root = k < 0 ? factor : StringRef(product->input(k)), mean = offset->input(1 - j);
      std::optional<StringRef> guarded = m.inverseRoot(root);
      std::optional<Statistics> found = guarded ? statistics(m, *guarded) : std::nullopt;
      if (!found || found->x.empty() || !m.same(found->x, x) ||
          !isMean(m, offset->input(1 - j), x, found->axes))
        continue;
      Affine affine{{x, found->axes, found->epsilon, false}, {}, difference->input(0)};
      if (k >= 0)
        affine.scale = product->input(1 - k);
      return affine;
    }
  }
  return std::nullopt;
}

std::optional<Affine> affine(Matcher &m) {
  if (m.root.op_type() != "Add")
    return scaledNormal(m, m.root);
  for (int i : {1, 0}) {
    StringRef left = m.root.input(1 - i), right = m.root.input(i);
    if (std::optional<Affine> found = folded(m, left, right))
      return found;
    const onnx::NodeProto *node = m.producer(left);
    std::optional<Affine> found = node ? scaledNormal(m, *node) : std::nullopt;
    if (found && isParameter(m, right, found->normal)) {
      found->bias = right;
      return found;
    }
  }
  return std::nullopt;
}

} // namespace

std::optional<Idea> layerNorm(Matcher &m) {
  std::optional<Affine> found = affine(m);
  std::optional<Shape> result = m.broadcastRoot();
  if (!found || !result || m.shape(found->normal.x) != llvm::ArrayRef<int64_t>(*result))
    return std::nullopt;
  StringRef x = found->normal.x;
  if (!isFloat(m.type(x)) || m.type(x) != m.type(m.root.input(0)))
    return std::nullopt;
  for (StringRef parameter : {found->scale, found->bias})
    if (!parameter.empty() && !isParameter(m, parameter, found->normal))
      return std::nullopt;
  if (m.costsMore({x, found->scale, found->bias}))
    return std::nullopt;
  bool rms = found->normal.rms;
  Idea idea{rms ? "rms_norm" : "layer_norm", buildLayerNorm,
            m.node("LayerNorm", {x, found->scale, found->bias})};
  setAttribute(idea.node, "axes", found->normal.axes);
  setAttribute(idea.node, "epsilon", found->normal.epsilon);
  setAttribute(idea.node, "rms", static_cast<int64_t>(rms));
  return idea;
}

} // namespace autotune::patterns
