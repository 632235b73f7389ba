// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The activation functions that RNN, GRU and LSTM name.
#include "frontend/RecurrentActivation.h"

#include "frontend/Scalar.h"

namespace autotune {

namespace arith = mlir::arith;
namespace math = mlir::math;
using mlir::Value;

namespace {

struct Known {
  llvm::StringLiteral name;
  double alpha, beta;  // defaults
};

constexpr Known kKnown[] = {{"relu", 0, 0},         {"tanh", 0, 0},           {"sigmoid", 0, 0},
                            {"affine", 1, 0},       {"leakyrelu", 0.01, 0},   {"thresholdedrelu", 1, 0},
                            {"scaledtanh", 1, 1},   {"hardsigmoid", 0.2, 0.5}, {"elu", 1, 0},
                            {"softsign", 0, 0},     {"softplus", 0, 0}};

} // namespace

Value RecurrentActivation::apply(Builder &b, Value x) const {
  auto number = [&](double value) { return scalar::constantLike(b, x, value); };
  Value zero = number(0);
  if (name == "sigmoid")
    return scalar::sigmoid(b, x);
  if (name == "tanh")
    return b.create<math::TanhOp>(x);
  if (name == "relu")
    return b.create<arith::MaximumFOp>(x, zero);
  if (name == "affine")
    return scalar::add(b, scalar::mul(b, x, number(alpha)), number(beta));
  if (name == "scaledtanh")
    return scalar::mul(b, number(alpha), b.create<math::TanhOp>(scalar::mul(b, x, number(beta))));
  if (name == "hardsigmoid") {
    Value line = scalar::add(b, scalar::mul(b, x, number(alpha)), number(beta));
    return b.create<arith::MinimumFOp>(b.create<arith::MaximumFOp>(line, zero), number(1));
  }
  if (name == "softsign")
    return b.create<arith::DivFOp>(x, scalar::add(b, number(1), b.create<math::AbsFOp>(x)));
  if (name == "softplus") {
    // max(x, 0) + log1p(exp(-|x|)) does not overflow.
    Value tail = b.create<math::Log1pOp>(b.create<math::ExpOp>(b.create<arith::NegFOp>(b.create<math::AbsFOp>(x))));
    return scalar::add(b, b.create<arith::MaximumFOp>(x, zero), tail);
  }
  if (name == "thresholdedrelu") {
    Value above = b.create<arith::CmpFOp>(arith::CmpFPredicate::OGE, x, number(alpha));
    return b.create<arith::SelectOp>(above, x, zero);
  }
  Value negative = b.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, x, zero);
  Value low = name == "elu" ? scalar::mul(b, number(alpha), b.create<math::ExpM1Op>(x))
                            : scalar::mul(b, number(alpha), x);
  return b.create<arith::SelectOp>(negative, low, x);
}

mlir::FailureOr<std::vector<RecurrentActivation>> readActivations(NodeContext &node, int64_t directions,
                                                                  llvm::ArrayRef<llvm::StringRef> defaults) {
  std::vector<std::string> names = node.stringsAttribute("activations");
  if (names.empty())
    for (int64_t d = 0; d < directions; ++d)
      for (llvm::StringRef name : defaults)
        names.push_back(name.str());
  if (names.size() != directions * defaults.size())
    return node.fail(llvm::Twine(names.size()) + " activations, expected " +
                     llvm::Twine(directions * defaults.size()));
  std::vector<float> alphas = node.floatsAttribute("activation_alpha"), betas = node.floatsAttribute("activation_beta");
  std::vector<RecurrentActivation> activations;
  size_t alpha = 0, beta = 0;
  for (const std::string &name : names) {
    std::string lower = llvm::StringRef(name).lower();
    const Known *known = llvm::find_if(kKnown, [&](const Known &k) { return k.name == lower; });
    if (known == std::end(kKnown))
      return node.fail("activation '" + name + "' is not known");
    RecurrentActivation activation{lower, known->alpha, known->beta};
    // The lists hold values only for those activations that have such a parameter.
    if (known->alpha != 0 && alpha < alphas.size())
      activation.alpha = alphas[alpha++];
    bool hasBeta = known->beta != 0 || lower == "affine";
    if (hasBeta && beta < betas.size())
      activation.beta = betas[beta++];
    activations.push_back(activation);
  }
  return activations;
}

} // namespace autotune
