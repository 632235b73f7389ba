// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Broadcasting arithmetic, comparisons and logic: one parallel generic for each node.
#include "frontend/OperatorTable.h"
#include "frontend/Scalar.h"

namespace autotune {

namespace arith = mlir::arith;
namespace math = mlir::math;
using mlir::Value;
using scalar::Relation;

namespace {

/// The common shape of all operands; older opsets align the second operand at `axis`.
mlir::FailureOr<Shape> commonShape(NodeContext &node) {
  Shape shape(node.shape(0));
  for (size_t i = 1; i < node.inputCount(); ++i) {
    std::optional<Shape> next = broadcastShape(shape, node.shape(i));
    if (!next)
      return node.fail("operands " + shapeText(node.shape(0)) + " and " + shapeText(node.shape(i)) +
                       " do not broadcast");
    shape = *next;
  }
  return shape;
}

mlir::LogicalResult requireSameTypes(NodeContext &node, size_t first = 0) {
  for (size_t i = first + 1; i < node.inputCount(); ++i)
    if (node.type(i) != node.type(first))
      return node.fail("operands of types " + spelling(node.type(first)) + " and " + spelling(node.type(i)));
  return mlir::success();
}

llvm::SmallVector<ElementwiseOperand> broadcastOperands(NodeContext &node, llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<ElementwiseOperand> operands;
  for (size_t i = 0; i < node.inputCount(); ++i)
    operands.push_back(broadcastOperand(node, i, shape));
  return operands;
}

/// All operands of one type and the result of `result`.
mlir::LogicalResult buildBroadcasting(NodeContext &node, ElementType result, ScalarBody body) {
  mlir::FailureOr<Shape> shape = commonShape(node);
  if (failed(shape) || failed(requireSameTypes(node)))
    return mlir::failure();
  node.setResult(0, elementwise(node.b, *shape, node.mlirType(result), broadcastOperands(node, *shape), body),
                 result);
  return mlir::success();
}

using BinaryFunction = Value (*)(Builder &, ElementType, Value, Value);

/// Folds any number of operands from the left.
template <BinaryFunction function, bool allowBool = false>
mlir::LogicalResult buildArithmetic(NodeContext &node) {
  ElementType type = node.type(0);
  if (type == ElementType::Bool && !allowBool)
    return node.fail("operands are bool, expected numbers");
  return buildBroadcasting(node, type, [&](Builder &b, mlir::ValueRange v) {
    Value result = v[0];
    for (Value next : v.drop_front())
      result = function(b, type, result, next);
    return result;
  });
}

Value addTyped(Builder &b, ElementType, Value x, Value y) { return scalar::add(b, x, y); }
Value subTyped(Builder &b, ElementType, Value x, Value y) { return scalar::sub(b, x, y); }
Value mulTyped(Builder &b, ElementType, Value x, Value y) { return scalar::mul(b, x, y); }

mlir::LogicalResult buildMean(NodeContext &node) {
  if (!isFloat(node.type(0)))
    return node.fail("operands are " + spelling(node.type(0)) + ", expected floats");
  double count = node.inputCount();
  return buildBroadcasting(node, node.type(0), [&](Builder &b, mlir::ValueRange v) -> Value {
    Value sum = v[0];
    for (Value next : v.drop_front())
      sum = scalar::add(b, sum, next);
    return b.create<arith::DivFOp>(sum, scalar::constantLike(b, sum, count));
  });
}

mlir::LogicalResult buildMod(NodeContext &node) {
  ElementType type = node.type(0);
  bool fmod = node.intAttribute("fmod", 0) != 0;
  return buildBroadcasting(node, type, [&](Builder &b, mlir::ValueRange v) {
    return fmod ? scalar::rem(b, type, v[0], v[1]) : scalar::floorMod(b, type, v[0], v[1]);
  });
}

/// Exponents that are common and exact without a library call; null for the others.
Value cheapPower(Builder &b, Value x, double exponent) {
  if (exponent == 1)
    return x;
  if (exponent == 2)
    return b.create<arith::MulFOp>(x, x);
  if (exponent == 3)
    return b.create<arith::MulFOp>(b.create<arith::MulFOp>(x, x), x);
  if (exponent == 0.5)
    return b.create<math::SqrtOp>(x);
  if (exponent == -1)
    return b.create<arith::DivFOp>(scalar::constantLike(b, x, 1), x);
  return nullptr;
}

mlir::LogicalResult buildPow(NodeContext &node) {
  mlir::FailureOr<Shape> shape = commonShape(node);
  if (failed(shape))
    return mlir::failure();
  ElementType base = node.type(0), exponentType = node.type(1);
  if (base == ElementType::Bool || exponentType == ElementType::Bool)
    return node.fail("operands are bool, expected numbers");
  const ConstantTensor *known = node.constant(1);
  std::optional<double> exponent;
  if (known && known->isSplat() && isFloat(base))
    exponent = known->floatAt(0);
  Value result = elementwise(
      node.b, *shape, node.elementType(0), broadcastOperands(node, *shape),
      [&](Builder &b, mlir::ValueRange v) -> Value {
        if (Value cheap = exponent ? cheapPower(b, v[0], *exponent) : Value())
          return cheap;
        if (isFloat(base))
          return b.create<math::PowFOp>(v[0], scalar::cast(b, v[1], exponentType, base));
        if (!isFloat(exponentType))
          return b.create<math::IPowIOp>(v[0], scalar::cast(b, v[1], exponentType, base));
        Value power = b.create<math::PowFOp>(scalar::cast(b, v[0], base, ElementType::F64),
                                             scalar::cast(b, v[1], exponentType, ElementType::F64));
        return scalar::cast(b, power, ElementType::F64, base);
      });
  node.setResult(0, result);
  return mlir::success();
}

mlir::LogicalResult buildPRelu(NodeContext &node) {
  std::optional<Shape> shape = broadcastShape(node.shape(0), node.shape(1));
  if (!shape || llvm::ArrayRef<int64_t>(*shape) != node.shape(0))
    return node.fail("slope " + shapeText(node.shape(1)) + " does not broadcast to " + shapeText(node.shape(0)));
  ElementType type = node.type(0);
  return buildBroadcasting(node, type, [&](Builder &b, mlir::ValueRange v) -> Value {
    Value negative = scalar::compare(b, Relation::Less, type, v[0], scalar::constantLike(b, v[0], 0));
    return b.create<arith::SelectOp>(negative, scalar::mul(b, v[0], v[1]), v[0]);
  });
}

template <Relation relation> mlir::LogicalResult buildComparison(NodeContext &node) {
  ElementType type = node.type(0);
  return buildBroadcasting(node, ElementType::Bool, [&](Builder &b, mlir::ValueRange v) {
    return scalar::compare(b, relation, type, v[0], v[1]);
  });
}

template <typename Op, bool logical> mlir::LogicalResult buildBitwise(NodeContext &node) {
  bool isBool = node.type(0) == ElementType::Bool;
  if (isBool != logical || isFloat(node.type(0)))
    return node.fail("operands are " + spelling(node.type(0)) + ", expected " + (logical ? "bools" : "integers"));
  return buildBroadcasting(node, node.type(0),
                           [](Builder &b, mlir::ValueRange v) -> Value { return b.create<Op>(v[0], v[1]); });
}

mlir::LogicalResult buildBitShift(NodeContext &node) {
  std::string direction = node.stringAttribute("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    return node.fail("direction '" + direction + "' is not LEFT or RIGHT");
  ElementType type = node.type(0);
  if (isFloat(type))
    return node.fail("operands are " + spelling(type) + ", expected integers");
  return buildBroadcasting(node, type, [&](Builder &b, mlir::ValueRange v) -> Value {
    Value width = scalar::constantLike(b, v[1], 8 * byteSize(type));
    Value zero = scalar::constantLike(b, v[0], 0);
    Value inside = b.create<arith::CmpIOp>(arith::CmpIPredicate::ult, v[1], width);
    Value amount = b.create<arith::SelectOp>(inside, v[1], zero);
    Value shifted = direction == "LEFT" ? b.create<arith::ShLIOp>(v[0], amount).getResult()
                                        : b.create<arith::ShRUIOp>(v[0], amount).getResult();
    return b.create<arith::SelectOp>(inside, shifted, zero);
  });
}

mlir::LogicalResult buildWhere(NodeContext &node) {
  mlir::FailureOr<Shape> shape = commonShape(node);
  if (failed(shape) || failed(requireSameTypes(node, /*first=*/1)))
    return mlir::failure();
  if (node.type(0) != ElementType::Bool)
    return node.fail("the condition is " + spelling(node.type(0)) + ", expected bool");
  Value result = elementwise(node.b, *shape, node.elementType(1), broadcastOperands(node, *shape),
                             [](Builder &b, mlir::ValueRange v) -> Value {
                               return b.create<arith::SelectOp>(v[0], v[1], v[2]);
                             });
  node.setResult(0, result, node.type(1));
  return mlir::success();
}

constexpr OperatorEntry kOperators[] = {
    {"", "Add", 7, 2, 2, buildArithmetic<addTyped>},
    {"", "Sub", 7, 2, 2, buildArithmetic<subTyped>},
    {"", "Mul", 7, 2, 2, buildArithmetic<mulTyped>},
    {"", "Div", 7, 2, 2, buildArithmetic<scalar::div>},
    {"", "Sum", 6, 1, kAnyInputs, buildArithmetic<addTyped>},
    {"", "Max", 6, 1, kAnyInputs, buildArithmetic<scalar::max>},
    {"", "Min", 6, 1, kAnyInputs, buildArithmetic<scalar::min>},
    {"", "Mean", 6, 1, kAnyInputs, buildMean},
    {"", "Mod", 10, 2, 2, buildMod},
    {"", "Pow", 7, 2, 2, buildPow},
    {"", "PRelu", 7, 2, 2, buildPRelu},
    {"", "Equal", 7, 2, 2, buildComparison<Relation::Equal>},
    {"", "Less", 7, 2, 2, buildComparison<Relation::Less>},
    {"", "LessOrEqual", 12, 2, 2, buildComparison<Relation::LessOrEqual>},
    {"", "Greater", 7, 2, 2, buildComparison<Relation::Greater>},
    {"", "GreaterOrEqual", 12, 2, 2, buildComparison<Relation::GreaterOrEqual>},
    {"", "And", 7, 2, 2, buildBitwise<arith::AndIOp, true>},
    {"", "Or", 7, 2, 2, buildBitwise<arith::OrIOp, true>},
    {"", "Xor", 7, 2, 2, buildBitwise<arith::XOrIOp, true>},
    {"", "BitwiseAnd", 18, 2, 2, buildBitwise<arith::AndIOp, false>},
    {"", "BitwiseOr", 18, 2, 2, buildBitwise<arith::OrIOp, false>},
    {"", "BitwiseXor", 18, 2, 2, buildBitwise<arith::XOrIOp, false>},
    {"", "BitShift", 11, 2, 2, buildBitShift},
    {"", "Where", 9, 3, 3, buildWhere},
};

} // namespace

llvm::ArrayRef<OperatorEntry> elementwiseOperators() { return kOperators; }

} // namespace autotune
