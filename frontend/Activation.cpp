// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of one element: activations, mathematics, Clip, Cast.
#include "frontend/OperatorTable.h"
#include "frontend/Scalar.h"

#include <cmath>

namespace autotune {

namespace arith = mlir::arith;
namespace math = mlir::math;
using mlir::Value;
using scalar::constantLike;
using scalar::Relation;

namespace {

void setUnary(NodeContext &node, ElementType result, llvm::function_ref<Value(Builder &, Value)> body) {
  llvm::ArrayRef<int64_t> shape = node.shape(0);
  node.setResult(0,
                 elementwise(node.b, shape, node.mlirType(result), broadcastOperand(node, 0, shape),
                             [&](Builder &b, mlir::ValueRange v) { return body(b, v[0]); }),
                 result);
}

/// Functions of several steps are computed in f32 for the half types.
mlir::LogicalResult buildFloat(NodeContext &node, llvm::function_ref<Value(Builder &, Value)> body) {
  ElementType type = node.type(0), wide = accumulatorType(type);
  if (!isFloat(type))
    return node.fail("operand is " + spelling(type) + ", expected a float");
  setUnary(node, type, [&](Builder &b, Value x) {
    return scalar::cast(b, body(b, scalar::cast(b, x, type, wide)), wide, type);
  });
  return mlir::success();
}

template <typename Op> mlir::LogicalResult buildMath(NodeContext &node) {
  return buildFloat(node, [](Builder &b, Value x) -> Value { return b.create<Op>(x); });
}

template <Value (*function)(Builder &, Value)> mlir::LogicalResult buildFunction(NodeContext &node) {
  return buildFloat(node, function);
}

template <Value (*function)(Builder &, ElementType, Value)> mlir::LogicalResult buildNumber(NodeContext &node) {
  ElementType type = node.type(0);
  if (type == ElementType::Bool)
    return node.fail("operand is bool, expected numbers");
  setUnary(node, type, [&](Builder &b, Value x) { return function(b, type, x); });
  return mlir::success();
}

Value reciprocal(Builder &b, Value x) { return b.create<arith::DivFOp>(constantLike(b, x, 1), x); }

Value softplus(Builder &b, Value x) {
  // max(x, 0) + log1p(exp(-|x|)) does not overflow.
  Value magnitude = b.create<math::AbsFOp>(x);
  Value tail = b.create<math::Log1pOp>(b.create<math::ExpOp>(b.create<arith::NegFOp>(magnitude)));
  return b.create<arith::AddFOp>(b.create<arith::MaximumFOp>(x, constantLike(b, x, 0)), tail);
}

Value softsign(Builder &b, Value x) {
  Value magnitude = b.create<math::AbsFOp>(x);
  return b.create<arith::DivFOp>(x, b.create<arith::AddFOp>(constantLike(b, x, 1), magnitude));
}

Value mish(Builder &b, Value x) { return b.create<arith::MulFOp>(x, b.create<math::TanhOp>(softplus(b, x))); }

/// max(0, min(1, alpha * x + beta))
Value hardSigmoid(Builder &b, Value x, double alpha, double beta) {
  Value line = b.create<arith::AddFOp>(b.create<arith::MulFOp>(x, constantLike(b, x, alpha)),
                                       constantLike(b, x, beta));
  Value low = b.create<arith::MaximumFOp>(line, constantLike(b, x, 0));
  return b.create<arith::MinimumFOp>(low, constantLike(b, x, 1));
}

Value hardSwish(Builder &b, Value x) { return b.create<arith::MulFOp>(x, hardSigmoid(b, x, 1.0 / 6, 0.5)); }

Value relu(Builder &b, ElementType type, Value x) { return scalar::max(b, type, x, constantLike(b, x, 0)); }
Value negateTyped(Builder &b, ElementType, Value x) { return scalar::negate(b, x); }

Value sign(Builder &b, ElementType type, Value x) {
  Value zero = constantLike(b, x, 0);
  Value positive = scalar::compare(b, Relation::Greater, type, x, zero);
  Value upper = b.create<arith::SelectOp>(positive, constantLike(b, x, 1), isFloat(type) ? x : zero);
  if (isUnsigned(type))
    return upper;
  // NaN fails both comparisons and stays.
  Value negative = scalar::compare(b, Relation::Less, type, x, zero);
  return b.create<arith::SelectOp>(negative, constantLike(b, x, -1), upper);
}

mlir::LogicalResult buildLeakyRelu(NodeContext &node) {
  double alpha = node.floatAttribute("alpha", 0.01);
  return buildFloat(node, [&](Builder &b, Value x) -> Value {
    Value negative = b.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, x, constantLike(b, x, 0));
    return b.create<arith::SelectOp>(negative, b.create<arith::MulFOp>(x, constantLike(b, x, alpha)), x);
  });
}

mlir::LogicalResult buildThresholdedRelu(NodeContext &node) {
  double alpha = node.floatAttribute("alpha", 1);
  return buildFloat(node, [&](Builder &b, Value x) -> Value {
    Value above = b.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, x, constantLike(b, x, alpha));
    return b.create<arith::SelectOp>(above, x, constantLike(b, x, 0));
  });
}

/// gamma * (x where positive, else alpha * (exp(x / scale) - 1))
mlir::LogicalResult buildExponentialUnit(NodeContext &node, double alpha, double gamma, double scale) {
  return buildFloat(node, [&](Builder &b, Value x) -> Value {
    Value positive = b.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, x, constantLike(b, x, 0));
    Value inner = scale == 1 ? x : b.create<arith::DivFOp>(x, constantLike(b, x, scale)).getResult();
    Value curve = b.create<arith::MulFOp>(b.create<math::ExpM1Op>(inner), constantLike(b, x, alpha));
    Value unit = b.create<arith::SelectOp>(positive, x, curve);
    return gamma == 1 ? unit : b.create<arith::MulFOp>(unit, constantLike(b, x, gamma)).getResult();
  });
}

mlir::LogicalResult buildElu(NodeContext &node) {
  return buildExponentialUnit(node, node.floatAttribute("alpha", 1), 1, 1);
}

mlir::LogicalResult buildCelu(NodeContext &node) {
  double alpha = node.floatAttribute("alpha", 1);
  return buildExponentialUnit(node, alpha, 1, alpha);
}

mlir::LogicalResult buildSelu(NodeContext &node) {
  return buildExponentialUnit(node, node.floatAttribute("alpha", 1.67326319217681884765625),
                              node.floatAttribute("gamma", 1.05070102214813232421875), 1);
}

mlir::LogicalResult buildHardSigmoid(NodeContext &node) {
  double alpha = node.floatAttribute("alpha", 0.2f), beta = node.floatAttribute("beta", 0.5);
  return buildFloat(node, [&](Builder &b, Value x) { return hardSigmoid(b, x, alpha, beta); });
}

/// x + bias below -lambd, x - bias above lambd, 0 between.
mlir::LogicalResult buildShrink(NodeContext &node) {
  double bias = node.floatAttribute("bias", 0), lambd = node.floatAttribute("lambd", 0.5);
  ElementType type = node.type(0);
  if (type == ElementType::Bool)
    return node.fail("operand is bool, expected numbers");
  setUnary(node, type, [&](Builder &b, Value x) -> Value {
    Value high = scalar::compare(b, Relation::Greater, type, x, constantLike(b, x, lambd));
    Value above = scalar::sub(b, x, constantLike(b, x, bias));
    Value inner = b.create<arith::SelectOp>(high, above, constantLike(b, x, 0));
    // Nothing unsigned is below -lambd.
    if (isUnsigned(type))
      return inner;
    Value low = scalar::compare(b, Relation::Less, type, x, constantLike(b, x, -lambd));
    return b.create<arith::SelectOp>(low, scalar::add(b, x, constantLike(b, x, bias)), inner);
  });
  return mlir::success();
}

mlir::LogicalResult buildIsNaN(NodeContext &node) {
  if (!isFloat(node.type(0)))
    return node.fail("operand is " + spelling(node.type(0)) + ", expected a float");
  setUnary(node, ElementType::Bool, [](Builder &b, Value x) -> Value {
    return b.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, x, x);
  });
  return mlir::success();
}

mlir::LogicalResult buildIsInf(NodeContext &node) {
  if (!isFloat(node.type(0)))
    return node.fail("operand is " + spelling(node.type(0)) + ", expected a float");
  bool positive = node.intAttribute("detect_positive", 1), negative = node.intAttribute("detect_negative", 1);
  setUnary(node, ElementType::Bool, [&](Builder &b, Value x) -> Value {
    auto equals = [&](mlir::TypedAttr limit) -> Value {
      Value value = b.create<arith::ConstantOp>(limit);
      return b.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, x, value);
    };
    Value none = b.create<arith::ConstantOp>(b.getBoolAttr(false));
    Value above = positive ? equals(scalar::highest(b, x.getType(), ElementType::F32)) : none;
    Value below = negative ? equals(scalar::lowest(b, x.getType(), ElementType::F32)) : none;
    return b.create<arith::OrIOp>(above, below);
  });
  return mlir::success();
}

mlir::LogicalResult buildNot(NodeContext &node) {
  bool isBool = node.type(0) == ElementType::Bool;
  if (isBool != (node.opType() == "Not") || isFloat(node.type(0)))
    return node.fail("operand is " + spelling(node.type(0)));
  setUnary(node, node.type(0), [](Builder &b, Value x) -> Value {
    Value ones = b.create<arith::ConstantOp>(
        b.getIntegerAttr(x.getType(), llvm::APInt::getAllOnes(x.getType().getIntOrFloatBitWidth())));
    return b.create<arith::XOrIOp>(x, ones);
  });
  return mlir::success();
}

/// A bound of Clip: an attribute before opset 11, then an optional scalar operand.
struct Bound {
  std::optional<ElementwiseOperand> operand;
};

mlir::FailureOr<Bound> clipBound(NodeContext &node, llvm::StringRef name, size_t index) {
  Bound bound;
  if (node.version() < 11) {
    if (node.hasAttribute(name))
      bound.operand = numberOperand(node.b, node.elementType(0), node.floatAttribute(name, 0));
    return bound;
  }
  if (!node.hasInput(index))
    return bound;
  if (elementCount(node.shape(index)) != 1 || node.type(index) != node.type(0))
    return node.fail(name + " is " + spelling(node.type(index)) + " of shape " + shapeText(node.shape(index)) +
                     ", expected a scalar " + spelling(node.type(0)));
  if (const ConstantTensor *constant = node.constant(index)) {
    bound.operand = isFloat(constant->type())
                        ? ElementwiseOperand{{}, {}, node.b.getFloatAttr(node.elementType(0), constant->floatAt(0))}
                        : ElementwiseOperand{{}, {}, node.b.getIntegerAttr(node.elementType(0), constant->intAt(0))};
    return bound;
  }
  Value scalar = reshapeTo(node.b, node.input(index), {});
  bound.operand = ElementwiseOperand{scalar, mlir::AffineMap::get(node.rank(0), 0, node.b.getContext()), {}};
  return bound;
}

mlir::LogicalResult buildClip(NodeContext &node) {
  ElementType type = node.type(0);
  if (type == ElementType::Bool)
    return node.fail("operand is bool, expected numbers");
  mlir::FailureOr<Bound> low = clipBound(node, "min", 1), high = clipBound(node, "max", 2);
  if (failed(low) || failed(high))
    return mlir::failure();
  if (!low->operand && !high->operand) {
    node.forward(0, 0);
    return mlir::success();
  }
  llvm::SmallVector<ElementwiseOperand> operands = {broadcastOperand(node, 0, node.shape(0))};
  if (low->operand)
    operands.push_back(*low->operand);
  if (high->operand)
    operands.push_back(*high->operand);
  node.setResult(0, elementwise(node.b, node.shape(0), node.elementType(0), operands,
                                [&](Builder &b, mlir::ValueRange v) {
                                  Value x = v[0];
                                  if (low->operand)
                                    x = scalar::max(b, type, x, v[1]);
                                  if (high->operand)
                                    x = scalar::min(b, type, x, v.back());
                                  return x;
                                }));
  return mlir::success();
}

mlir::LogicalResult buildCast(NodeContext &node) {
  std::optional<ElementType> to;
  if (node.opType() == "CastLike") {
    to = node.type(1);
  } else {
    int64_t code = node.intAttribute("to", 0);
    to = elementTypeFromOnnx(code);
    if (!to)
      return node.fail("cast to " + onnxDataTypeName(code) + " is not supported");
  }
  ElementType from = node.type(0);
  if (from == *to) {
    node.forward(0, 0);
    return mlir::success();
  }
  setUnary(node, *to, [&](Builder &b, Value x) { return scalar::cast(b, x, from, *to); });
  return mlir::success();
}

constexpr OperatorEntry kOperators[] = {
    {"", "Abs", 6, 1, 1, buildNumber<scalar::abs>},
    {"", "Acos", 7, 1, 1, buildMath<math::AcosOp>},
    {"", "Acosh", 9, 1, 1, buildMath<math::AcoshOp>},
    {"", "Asin", 7, 1, 1, buildMath<math::AsinOp>},
    {"", "Asinh", 9, 1, 1, buildMath<math::AsinhOp>},
    {"", "Atan", 7, 1, 1, buildMath<math::AtanOp>},
    {"", "Atanh", 9, 1, 1, buildMath<math::AtanhOp>},
    {"", "BitwiseNot", 18, 1, 1, buildNot},
    {"", "Cast", 6, 1, 1, buildCast},
    {"", "CastLike", 15, 2, 2, buildCast},
    {"", "Ceil", 6, 1, 1, buildMath<math::CeilOp>},
    {"", "Celu", 12, 1, 1, buildCelu},
    {"", "Clip", 6, 1, 3, buildClip},
    {"", "Cos", 7, 1, 1, buildMath<math::CosOp>},
    {"", "Cosh", 9, 1, 1, buildMath<math::CoshOp>},
    {"", "Elu", 6, 1, 1, buildElu},
    {"", "Erf", 9, 1, 1, buildMath<math::ErfOp>},
    {"", "Exp", 6, 1, 1, buildMath<math::ExpOp>},
    {"", "Floor", 6, 1, 1, buildMath<math::FloorOp>},
    {"", "HardSigmoid", 6, 1, 1, buildHardSigmoid},
    {"", "HardSwish", 14, 1, 1, buildFunction<hardSwish>},
    {"", "IsInf", 10, 1, 1, buildIsInf},
    {"", "IsNaN", 9, 1, 1, buildIsNaN},
    {"", "LeakyRelu", 6, 1, 1, buildLeakyRelu},
    {"", "Log", 6, 1, 1, buildMath<math::LogOp>},
    {"", "Mish", 18, 1, 1, buildFunction<mish>},
    {"", "Neg", 6, 1, 1, buildNumber<negateTyped>},
    {"", "Not", 1, 1, 1, buildNot},
    {"", "Reciprocal", 6, 1, 1, buildFunction<reciprocal>},
    {"", "Relu", 6, 1, 1, buildNumber<relu>},
    {"", "Round", 11, 1, 1, buildMath<math::RoundEvenOp>},
    {"", "Selu", 6, 1, 1, buildSelu},
    {"", "Shrink", 9, 1, 1, buildShrink},
    {"", "Sigmoid", 6, 1, 1, buildFunction<scalar::sigmoid>},
    {"", "Sign", 9, 1, 1, buildNumber<sign>},
    {"", "Sin", 7, 1, 1, buildMath<math::SinOp>},
    {"", "Sinh", 9, 1, 1, buildMath<math::SinhOp>},
    {"", "Softplus", 1, 1, 1, buildFunction<softplus>},
    {"", "Softsign", 1, 1, 1, buildFunction<softsign>},
    {"", "Sqrt", 6, 1, 1, buildMath<math::SqrtOp>},
    {"", "Tan", 7, 1, 1, buildMath<math::TanOp>},
    {"", "Tanh", 6, 1, 1, buildMath<math::TanhOp>},
    {"", "ThresholdedRelu", 10, 1, 1, buildThresholdedRelu},
};

} // namespace

llvm::ArrayRef<OperatorEntry> activationOperators() { return kOperators; }

} // namespace autotune
