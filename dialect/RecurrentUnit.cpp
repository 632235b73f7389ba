// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic of gates and activations.
#include "dialect/RecurrentUnit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace autotune {

namespace arith = mlir::arith;
namespace math = mlir::math;
using mlir::Value;

namespace {

constexpr std::pair<llvm::StringLiteral, std::pair<double, double>> kDefaults[] = {
    {"relu", {0, 0}},         {"tanh", {0, 0}},
    {"sigmoid", {0, 0}},      {"affine", {1, 0}},
    {"leakyrelu", {0.01, 0}}, {"thresholdedrelu", {1, 0}},
    {"scaledtanh", {1, 1}},   {"hardsigmoid", {0.2, 0.5}},
    {"elu", {1, 0}},          {"softsign", {0, 0}},
    {"softplus", {0, 0}},
};

Value number(Builder &b, Value like, double value) {
  auto vector = mlir::dyn_cast<mlir::VectorType>(like.getType());
  if (!vector)
    return scalarConstant(b, like.getType(), value);
  mlir::Attribute element = b.getFloatAttr(vector.getElementType(), value);
  return b.create<arith::ConstantOp>(mlir::DenseElementsAttr::get(vector, element));
}

Value sum(Builder &b, Value x, Value y) { return b.create<arith::AddFOp>(x, y); }
Value product(Builder &b, Value x, Value y) { return b.create<arith::MulFOp>(x, y); }

Value sigmoid(Builder &b, Value x) {
  Value exponential = b.create<math::ExpOp>(b.create<arith::NegFOp>(x));
  return b.create<arith::DivFOp>(number(b, x, 1), sum(b, number(b, x, 1), exponential));
}

/// max(x, 0) + log1p(exp(-|x|)) does not overflow.
Value softplus(Builder &b, Value x) {
  Value least = b.create<arith::NegFOp>(b.create<math::AbsFOp>(x));
  Value tail = b.create<math::Log1pOp>(b.create<math::ExpOp>(least));
  return sum(b, b.create<arith::MaximumFOp>(x, number(b, x, 0)), tail);
}

Value plusPeephole(Builder &b, Value x, Value peephole, Value cell) {
  return peephole ? sum(b, x, product(b, peephole, cell)) : x;
}

} // namespace

std::optional<RecurrentActivation> RecurrentActivation::withDefaults(llvm::StringRef name) {
  for (const auto &[known, parameters] : kDefaults)
    if (known == name)
      return RecurrentActivation{name.str(), parameters.first, parameters.second};
  return std::nullopt;
}

Value RecurrentActivation::apply(Builder &b, Value x) const {
  Value zero = number(b, x, 0);
  auto line = [&] { return sum(b, product(b, x, number(b, x, alpha)), number(b, x, beta)); };
  if (name == "sigmoid")
    return sigmoid(b, x);
  if (name == "tanh")
    return b.create<math::TanhOp>(x);
  if (name == "relu")
    return b.create<arith::MaximumFOp>(x, zero);
  if (name == "affine")
    return line();
  if (name == "scaledtanh")
    return product(b, number(b, x, alpha), b.create<math::TanhOp>(product(b, x, number(b, x, beta))));
  if (name == "hardsigmoid")
    return b.create<arith::MinimumFOp>(b.create<arith::MaximumFOp>(line(), zero), number(b, x, 1));
  if (name == "softsign")
    return b.create<arith::DivFOp>(x, sum(b, number(b, x, 1), b.create<math::AbsFOp>(x)));
  if (name == "softplus")
    return softplus(b, x);
  if (name == "thresholdedrelu") {
    Value above = b.create<arith::CmpFOp>(arith::CmpFPredicate::OGE, x, number(b, x, alpha));
    return b.create<arith::SelectOp>(above, x, zero);
  }
  Value low = x;
  if (name == "elu")
    low = b.create<math::ExpM1Op>(x);
  Value negative = b.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, x, zero);
  return b.create<arith::SelectOp>(negative, product(b, number(b, x, alpha), low), x);
}

RecurrentUnit::RecurrentUnit(RecurrenceOp op) : couplesInputForget(op.getCouplesInputForget()) {
  if (op.getClip())
    clip = op.getClip()->convertToDouble();
  auto parameter = [](std::optional<llvm::ArrayRef<double>> given, size_t index) {
    return given ? (*given)[index] : 0;
  };
  for (auto [index, name] : llvm::enumerate(op.getActivations().getAsValueRange<mlir::StringAttr>()))
    activations.push_back({name.str(), parameter(op.getAlphas(), index), parameter(op.getBetas(), index)});
}

Value RecurrentUnit::gate(Builder &b, size_t index, Value x) const {
  if (clip) {
    x = b.create<arith::MinimumFOp>(x, number(b, x, *clip));
    x = b.create<arith::MaximumFOp>(x, number(b, x, -*clip));
  }
  return activated(b, index, x);
}

Value RecurrentUnit::nextCell(Builder &b, const Gates &gates, Value cell) const {
  Value input = gate(b, 0, plusPeephole(b, gates.input, gates.inputPeephole, cell)), forget;
  if (couplesInputForget)
    forget = b.create<arith::SubFOp>(number(b, input, 1), input);
  else
    forget = gate(b, 0, plusPeephole(b, gates.forget, gates.forgetPeephole, cell));
  return sum(b, product(b, forget, cell), product(b, input, gate(b, 1, gates.candidate)));
}

Value RecurrentUnit::shownCell(Builder &b, Value output, Value cell, Value peephole) const {
  // The cell is not clipped: the clip is for what gates read.
  return product(b, gate(b, 0, plusPeephole(b, output, peephole, cell)), activated(b, 2, cell));
}

Value RecurrentUnit::nextHidden(Builder &b, Value update, Value candidate, Value hidden) const {
  Value rest = b.create<arith::SubFOp>(number(b, update, 1), update);
  return sum(b, product(b, rest, gate(b, 1, candidate)), product(b, update, hidden));
}

} // namespace autotune
