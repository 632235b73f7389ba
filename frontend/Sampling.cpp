// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Taps and weights of nearest, linear and cubic interpolation.
#include "frontend/Sampling.h"

#include "frontend/Scalar.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace autotune::sampling {

namespace arith = mlir::arith;
namespace math = mlir::math;
using mlir::Value;
using scalar::constantLike;

// Coordinates further out read the same as these; converting them to integers is defined.
constexpr double kFarAway = 1 << 30;

Value limited(Builder &b, Value x, double low, double high) {
  // Comparisons that are false for NaN pick the bound.
  Value least = constantLike(b, x, low), greatest = constantLike(b, x, high);
  Value above = b.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, x, least);
  Value raised = b.create<arith::SelectOp>(above, x, least);
  Value below = b.create<arith::CmpFOp>(arith::CmpFPredicate::OLT, raised, greatest);
  return b.create<arith::SelectOp>(below, raised, greatest);
}

Value boundedInteger(Builder &b, Value x) {
  return b.create<arith::FPToSIOp>(b.getI64Type(), limited(b, x, -kFarAway, kFarAway));
}

namespace {

Value whole(Builder &b, int64_t value) { return b.create<arith::ConstantOp>(b.getI64IntegerAttr(value)); }

Value reflectedCoordinate(Builder &b, const Axis &axis, Value x) {
  double low = axis.alignCorners ? 0 : -0.5;
  double range = static_cast<double>(axis.size) - (axis.alignCorners ? 1 : 0);
  if (range == 0)
    return constantLike(b, x, low);
  Value distance = b.create<math::AbsFOp>(scalar::sub(b, x, constantLike(b, x, low)));
  Value periods = b.create<math::FloorOp>(b.create<arith::DivFOp>(distance, constantLike(b, x, 2 * range)));
  Value rest = scalar::sub(b, distance, scalar::mul(b, periods, constantLike(b, x, 2 * range)));
  Value mirrored = scalar::sub(b, constantLike(b, x, 2 * range), rest);
  Value nearer = b.create<arith::MinimumFOp>(rest, mirrored);
  return scalar::add(b, nearer, constantLike(b, x, low));
}

/// An element number beyond the border, reflected into the dimension.
Value reflectedPosition(Builder &b, const Axis &axis, Value i) {
  int64_t last = axis.size - 1;
  if (last == 0)
    return whole(b, 0);
  Value zero = whole(b, 0);
  Value negative = b.create<arith::CmpIOp>(arith::CmpIPredicate::slt, i, zero);
  // About the edge, -1 mirrors to 0; about the centre of element 0, to 1.
  Value start = axis.alignCorners ? zero : whole(b, -1);
  Value positive = b.create<arith::SelectOp>(negative, b.create<arith::SubIOp>(start, i), i);
  int64_t period = axis.alignCorners ? 2 * last : 2 * axis.size;
  Value rest = b.create<arith::RemUIOp>(positive, whole(b, period));
  Value mirrored = b.create<arith::SubIOp>(whole(b, axis.alignCorners ? period : period - 1), rest);
  return b.create<arith::MinSIOp>(rest, mirrored);
}

/// Element number `i` (i64) after padding.
Tap tapAt(Builder &b, const Axis &axis, Value i, Value weight) {
  Tap tap{i, weight, {}};
  Value zero = whole(b, 0), last = whole(b, axis.size - 1);
  if (axis.padding == Padding::Zeros) {
    Value above = b.create<arith::CmpIOp>(arith::CmpIPredicate::sge, i, zero);
    Value below = b.create<arith::CmpIOp>(arith::CmpIPredicate::sle, i, last);
    tap.inside = b.create<arith::AndIOp>(above, below);
  }
  if (axis.padding == Padding::Reflection)
    i = reflectedPosition(b, axis, i);
  Value clamped = b.create<arith::MinSIOp>(b.create<arith::MaxSIOp>(i, zero), last);
  tap.position = b.create<arith::IndexCastOp>(b.getIndexType(), clamped);
  return tap;
}

/// The element at or before x, and how far x is beyond it.
std::pair<Value, Value> split(Builder &b, Value x) {
  x = limited(b, x, -kFarAway, kFarAway);
  Value floor = b.create<math::FloorOp>(x);
  return {boundedInteger(b, floor), scalar::sub(b, x, floor)};
}

Value shifted(Builder &b, Value i, int64_t distance) {
  return distance == 0 ? i : b.create<arith::AddIOp>(i, whole(b, distance)).getResult();
}

/// ((c3 * t + c2) * t + c1) * t + c0
Value polynomial(Builder &b, Value t, double c3, double c2, double c1, double c0) {
  Value result = constantLike(b, t, c3);
  for (double c : {c2, c1, c0})
    result = scalar::add(b, scalar::mul(b, result, t), constantLike(b, t, c));
  return result;
}

} // namespace

Value paddedCoordinate(Builder &b, const Axis &axis, Value x) {
  if (axis.padding == Padding::Zeros)
    return x;
  double low = axis.alignCorners ? 0 : -0.5,
         high = static_cast<double>(axis.size) - (axis.alignCorners ? 1 : 0.5);
  Value below = scalar::compare(b, scalar::Relation::Less, ElementType::F32, x, constantLike(b, x, low));
  Value above = scalar::compare(b, scalar::Relation::Greater, ElementType::F32, x, constantLike(b, x, high));
  Value beyond = b.create<arith::OrIOp>(below, above);
  Value moved = axis.padding == Padding::Border ? limited(b, x, 0, static_cast<double>(axis.size - 1))
                                                : reflectedCoordinate(b, axis, x);
  return b.create<arith::SelectOp>(beyond, moved, x);
}

Taps nearest(Builder &b, const Axis &axis, Value x, bool tiesToEven) {
  Value rounded;
  if (tiesToEven) {
    rounded = b.create<math::RoundEvenOp>(x);
  } else {
    Value half = constantLike(b, x, 0.5);
    Value up = b.create<math::FloorOp>(scalar::add(b, x, half));
    Value down = b.create<math::CeilOp>(scalar::sub(b, x, half));
    Value positive =
        scalar::compare(b, scalar::Relation::GreaterOrEqual, ElementType::F32, x, constantLike(b, x, 0));
    rounded = b.create<arith::SelectOp>(positive, up, down);
  }
  return {tapAt(b, axis, boundedInteger(b, rounded), {})};
}

Taps linear(Builder &b, const Axis &axis, Value x) {
  auto [i, t] = split(b, x);
  Value rest = scalar::sub(b, constantLike(b, t, 1), t);
  return {tapAt(b, axis, i, rest), tapAt(b, axis, shifted(b, i, 1), t)};
}

Taps cubic(Builder &b, const Axis &axis, Value x) {
  auto [i, t] = split(b, x);
  constexpr double a = -0.75;
  Value u = scalar::sub(b, constantLike(b, t, 1), t);
  // The outer weights at distance 1 + t, the inner ones at distance t.
  auto outer = [&](Value distance) { return polynomial(b, distance, a, -2 * a, a, 0); };
  auto inner = [&](Value distance) { return polynomial(b, distance, a + 2, -(a + 3), 0, 1); };
  return {tapAt(b, axis, shifted(b, i, -1), outer(t)), tapAt(b, axis, i, inner(t)),
          tapAt(b, axis, shifted(b, i, 1), inner(u)), tapAt(b, axis, shifted(b, i, 2), outer(u))};
}

Value weightedSum(Builder &b, Value tensor, llvm::ArrayRef<Value> leading, llvm::ArrayRef<Taps> taps,
                  mlir::Type accumulator) {
  llvm::SmallVector<Value> at(leading);
  if (taps.empty()) {
    Value element = b.create<mlir::tensor::ExtractOp>(tensor, at);
    bool widens = mlir::isa<mlir::FloatType>(element.getType()) && element.getType() != accumulator;
    return widens ? b.create<arith::ExtFOp>(accumulator, element).getResult() : element;
  }
  Value sum;
  for (const Tap &tap : taps.front()) {
    at.push_back(tap.position);
    Value term = weightedSum(b, tensor, at, taps.drop_front(), accumulator);
    at.pop_back();
    if (tap.inside)
      term = b.create<arith::SelectOp>(tap.inside, term, constantLike(b, term, 0));
    if (tap.weight)
      term = scalar::mul(b, term, tap.weight);
    sum = sum ? scalar::add(b, sum, term) : term;
  }
  return sum;
}

} // namespace autotune::sampling
