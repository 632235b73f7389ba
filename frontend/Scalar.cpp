// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scalar arithmetic by ONNX element type.
#include "frontend/Scalar.h"

#include "frontend/ImportContext.h"

#include <cmath>

namespace autotune::scalar {

namespace arith = mlir::arith;
namespace math = mlir::math;

static bool isFloatValue(Value x) { return mlir::isa<mlir::FloatType>(x.getType()); }

Value constantLike(Builder &b, Value like, double value) { return scalarConstant(b, like.getType(), value); }

Value add(Builder &b, Value x, Value y) {
  if (isFloatValue(x))
    return b.create<arith::AddFOp>(x, y);
  return b.create<arith::AddIOp>(x, y);
}

Value sub(Builder &b, Value x, Value y) {
  if (isFloatValue(x))
    return b.create<arith::SubFOp>(x, y);
  return b.create<arith::SubIOp>(x, y);
}

Value mul(Builder &b, Value x, Value y) {
  if (isFloatValue(x))
    return b.create<arith::MulFOp>(x, y);
  return b.create<arith::MulIOp>(x, y);
}

Value negate(Builder &b, Value x) {
  if (isFloatValue(x))
    return b.create<arith::NegFOp>(x);
  return sub(b, constantLike(b, x, 0), x);
}

/// A divisor that cannot trap: 1 in place of 0 and, for signed types, of -1.
static Value safeDivisor(Builder &b, ElementType type, Value y, Value &isMinusOne) {
  Value one = constantLike(b, y, 1);
  Value isZero = b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, y, constantLike(b, y, 0));
  Value safe = b.create<arith::SelectOp>(isZero, one, y);
  if (isUnsigned(type))
    return safe;
  isMinusOne = b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, y, constantLike(b, y, -1));
  return b.create<arith::SelectOp>(isMinusOne, one, safe);
}

Value div(Builder &b, ElementType type, Value x, Value y) {
  if (isFloat(type))
    return b.create<arith::DivFOp>(x, y);
  Value isMinusOne;
  Value safe = safeDivisor(b, type, y, isMinusOne);
  if (isUnsigned(type))
    return b.create<arith::DivUIOp>(x, safe);
  return b.create<arith::SelectOp>(isMinusOne, negate(b, x), b.create<arith::DivSIOp>(x, safe));
}

Value rem(Builder &b, ElementType type, Value x, Value y) {
  if (isFloat(type))
    return b.create<arith::RemFOp>(x, y);
  Value isMinusOne;
  Value safe = safeDivisor(b, type, y, isMinusOne);
  if (isUnsigned(type))
    return b.create<arith::RemUIOp>(x, safe);
  return b.create<arith::RemSIOp>(x, safe);  // by 1 where the divisor is -1: 0 either way
}

Value floorMod(Builder &b, ElementType type, Value x, Value y) {
  Value remainder = rem(b, type, x, y);
  if (isUnsigned(type))
    return remainder;
  Value zero = constantLike(b, x, 0);
  Value nonZero, signsDiffer;
  if (isFloat(type)) {
    nonZero = b.create<arith::CmpFOp>(arith::CmpFPredicate::UNE, remainder, zero);
  } else {
    nonZero = b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, remainder, zero);
  }
  signsDiffer = b.create<arith::XOrIOp>(compare(b, Relation::Less, type, remainder, zero),
                                        compare(b, Relation::Less, type, y, zero));
  Value adjust = b.create<arith::AndIOp>(nonZero, signsDiffer);
  return b.create<arith::SelectOp>(adjust, add(b, remainder, y), remainder);
}

Value max(Builder &b, ElementType type, Value x, Value y) {
  if (isFloat(type))
    return b.create<arith::MaximumFOp>(x, y);
  if (isUnsigned(type))
    return b.create<arith::MaxUIOp>(x, y);
  return b.create<arith::MaxSIOp>(x, y);
}

Value min(Builder &b, ElementType type, Value x, Value y) {
  if (isFloat(type))
    return b.create<arith::MinimumFOp>(x, y);
  if (isUnsigned(type))
    return b.create<arith::MinUIOp>(x, y);
  return b.create<arith::MinSIOp>(x, y);
}

Value abs(Builder &b, ElementType type, Value x) {
  if (isFloat(type))
    return b.create<math::AbsFOp>(x);
  if (isUnsigned(type))
    return x;
  return b.create<math::AbsIOp>(x);
}

Value compare(Builder &b, Relation relation, ElementType type, Value x, Value y) {
  unsigned row = static_cast<unsigned>(relation);
  if (isFloat(type)) {
    using P = arith::CmpFPredicate;
    constexpr P predicates[] = {P::OEQ, P::OLT, P::OLE, P::OGT, P::OGE};
    return b.create<arith::CmpFOp>(predicates[row], x, y);
  }
  using P = arith::CmpIPredicate;
  constexpr P signedPredicates[] = {P::eq, P::slt, P::sle, P::sgt, P::sge};
  constexpr P unsignedPredicates[] = {P::eq, P::ult, P::ule, P::ugt, P::uge};
  return b.create<arith::CmpIOp>((isUnsigned(type) ? unsignedPredicates : signedPredicates)[row], x, y);
}

static Value castFloat(Builder &b, Value x, mlir::Type to) {
  unsigned fromBits = x.getType().getIntOrFloatBitWidth(), toBits = to.getIntOrFloatBitWidth();
  if (x.getType() == to)
    return x;
  mlir::Type single = b.getF32Type();
  // Between f64 and the 16-bit floats, and between those, hardware goes through f32.
  bool through = (fromBits == 64 && toBits == 16) || (fromBits == 16 && toBits == 64) || fromBits == toBits;
  if (through)
    return castFloat(b, castFloat(b, x, single), to);
  if (fromBits < toBits)
    return b.create<arith::ExtFOp>(to, x);
  return b.create<arith::TruncFOp>(to, x);
}

static Value castInteger(Builder &b, Value x, ElementType from, mlir::Type to) {
  unsigned fromBits = x.getType().getIntOrFloatBitWidth(), toBits = to.getIntOrFloatBitWidth();
  if (fromBits == toBits)
    return x;
  if (fromBits > toBits)
    return b.create<arith::TruncIOp>(to, x);
  if (isUnsigned(from))
    return b.create<arith::ExtUIOp>(to, x);
  return b.create<arith::ExtSIOp>(to, x);
}

Value cast(Builder &b, Value x, ElementType from, ElementType to) {
  if (from == to)
    return x;
  mlir::Type target = toMlirType(to, b.getContext());
  if (to == ElementType::Bool) {
    Value zero = constantLike(b, x, 0);
    if (isFloat(from))
      return b.create<arith::CmpFOp>(arith::CmpFPredicate::UNE, x, zero);
    return b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, x, zero);
  }
  if (isFloat(from) && isFloat(to))
    return castFloat(b, x, target);
  if (isFloat(from)) {
    Value wide = byteSize(from) == 2 ? castFloat(b, x, b.getF32Type()) : x;
    if (to == ElementType::U64)
      return b.create<arith::FPToUIOp>(target, wide);
    // Through the widest signed integer: values beyond a narrow type wrap instead of being undefined.
    return castInteger(b, b.create<arith::FPToSIOp>(b.getI64Type(), wide), ElementType::I64, target);
  }
  if (!isFloat(to))
    return castInteger(b, x, from, target);
  mlir::Type number = byteSize(to) == 2 ? mlir::Type(b.getF32Type()) : target;
  Value converted = isUnsigned(from) ? b.create<arith::UIToFPOp>(number, x).getResult()
                                     : b.create<arith::SIToFPOp>(number, x).getResult();
  return castFloat(b, converted, target);
}

Value sigmoid(Builder &b, Value x) {
  Value one = constantLike(b, x, 1);
  Value exponential = b.create<math::ExpOp>(b.create<arith::NegFOp>(x));
  return b.create<arith::DivFOp>(one, b.create<arith::AddFOp>(one, exponential));
}

Value gelu(Builder &b, Value x) {
  Value curve = b.create<math::ErfOp>(mul(b, x, constantLike(b, x, std::sqrt(0.5))));
  return mul(b, mul(b, x, constantLike(b, x, 0.5)), add(b, curve, constantLike(b, x, 1)));
}

Value tanhGelu(Builder &b, Value x) {
  Value cube = mul(b, mul(b, x, x), x);
  Value sum = add(b, x, mul(b, cube, constantLike(b, x, 0.044715)));
  Value curve = b.create<math::TanhOp>(mul(b, sum, constantLike(b, x, std::sqrt(2 / M_PI))));
  return mul(b, mul(b, x, constantLike(b, x, 0.5)), add(b, curve, constantLike(b, x, 1)));
}

mlir::TypedAttr lowest(Builder &b, mlir::Type type, ElementType element) {
  if (auto floatType = mlir::dyn_cast<mlir::FloatType>(type))
    return b.getFloatAttr(type, llvm::APFloat::getInf(floatType.getFloatSemantics(), /*Negative=*/true));
  unsigned bits = type.getIntOrFloatBitWidth();
  return b.getIntegerAttr(type, isUnsigned(element) ? llvm::APInt::getMinValue(bits)
                                                    : llvm::APInt::getSignedMinValue(bits));
}

mlir::TypedAttr highest(Builder &b, mlir::Type type, ElementType element) {
  if (auto floatType = mlir::dyn_cast<mlir::FloatType>(type))
    return b.getFloatAttr(type, llvm::APFloat::getInf(floatType.getFloatSemantics()));
  unsigned bits = type.getIntOrFloatBitWidth();
  return b.getIntegerAttr(type, isUnsigned(element) ? llvm::APInt::getMaxValue(bits)
                                                    : llvm::APInt::getSignedMaxValue(bits));
}

} // namespace autotune::scalar

namespace autotune {

mlir::Value casted(Builder &b, mlir::Value tensor, ElementType from, ElementType to) {
  if (from == to)
    return tensor;
  llvm::ArrayRef<int64_t> shape = shapeOf(tensor);
  return elementwise(b, shape, toMlirType(to, b.getContext()), broadcastOperand(b, tensor, shape),
                     [&](Builder &inner, mlir::ValueRange v) { return scalar::cast(inner, v[0], from, to); });
}

} // namespace autotune
