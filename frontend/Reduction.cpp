// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The Reduce family: one reduction generic, with what comes before and after as elementwise ops.
#include "frontend/OperatorTable.h"
#include "frontend/Scalar.h"

#include <limits>

namespace autotune {

namespace arith = mlir::arith;
namespace math = mlir::math;
using mlir::Value;

namespace {

struct Reduction {
  std::vector<int64_t> axes;  // empty: the node changes nothing
  bool keepDims = true;
};

/// Axes are an attribute up to `lastAttributeVersion`, then an optional operand.
Reduction describe(NodeContext &node) {
  Reduction reduction;
  reduction.keepDims = node.intAttribute("keepdims", 1) != 0;
  std::optional<std::vector<int64_t>> axes;
  if (node.hasAttribute("axes"))
    axes = node.intsAttribute("axes");
  else
    axes = node.constantInts(1);
  if (axes && !axes->empty())
    reduction.axes = node.normalizedAxes(*axes, node.rank(0));
  else if (!node.intAttribute("noop_with_empty_axes", 0))
    reduction.axes = firstIntegers(node.rank(0));
  return reduction;
}

Value mapped(Builder &b, Value tensor, llvm::function_ref<Value(Builder &, Value)> body) {
  llvm::ArrayRef<int64_t> shape = shapeOf(tensor);
  return elementwise(b, shape, elementOf(tensor), broadcastOperand(b, tensor, shape),
                     [&](Builder &inner, mlir::ValueRange v) { return body(inner, v[0]); });
}

enum class Kind { Sum, Mean, Max, Min, Prod, L1, L2, SumSquare, LogSum };

Value initial(Builder &b, Kind kind, ElementType type, mlir::Type element) {
  switch (kind) {
  case Kind::Max:
    return b.create<arith::ConstantOp>(scalar::lowest(b, element, type));
  case Kind::Min:
    return b.create<arith::ConstantOp>(scalar::highest(b, element, type));
  case Kind::Prod:
    return scalarConstant(b, element, 1);
  default:
    return scalarConstant(b, element, 0);
  }
}

Value combine(Builder &b, Kind kind, ElementType type, Value x, Value accumulator) {
  switch (kind) {
  case Kind::Max:
    return scalar::max(b, type, x, accumulator);
  case Kind::Min:
    return scalar::min(b, type, x, accumulator);
  case Kind::Prod:
    return scalar::mul(b, x, accumulator);
  case Kind::L1:
    return scalar::add(b, scalar::abs(b, type, x), accumulator);
  case Kind::L2:
  case Kind::SumSquare:
    return scalar::add(b, scalar::mul(b, x, x), accumulator);
  default:
    return scalar::add(b, x, accumulator);
  }
}

Value finish(Builder &b, Kind kind, ElementType type, Value tensor, int64_t count) {
  switch (kind) {
  case Kind::Mean:
    return mapped(b, tensor, [&](Builder &inner, Value x) -> Value {
      if (isFloat(type))
        return scalar::mul(inner, x, scalar::constantLike(inner, x, 1.0 / static_cast<double>(count)));
      return scalar::div(inner, type, x, scalar::constantLike(inner, x, static_cast<double>(count)));
    });
  case Kind::L2:
    return mapped(b, tensor, [&](Builder &inner, Value x) -> Value {
      if (isFloat(type))
        return inner.create<math::SqrtOp>(x);
      Value root = inner.create<math::SqrtOp>(scalar::cast(inner, x, type, ElementType::F64));
      return scalar::cast(inner, root, ElementType::F64, type);
    });
  case Kind::LogSum:
    return mapped(b, tensor, [&](Builder &inner, Value x) -> Value {
      if (isFloat(type))
        return inner.create<math::LogOp>(x);
      Value logarithm = inner.create<math::LogOp>(scalar::cast(inner, x, type, ElementType::F64));
      return scalar::cast(inner, logarithm, ElementType::F64, type);
    });
  default:
    return tensor;
  }
}

bool accumulates(Kind kind) { return kind != Kind::Max && kind != Kind::Min; }

template <Kind kind> mlir::LogicalResult buildReduce(NodeContext &node) {
  Reduction reduction = describe(node);
  ElementType type = node.type(0);
  if (node.failedAlready())
    return mlir::failure();
  if (type == ElementType::Bool && accumulates(kind))
    return node.fail("operand is bool, expected numbers");
  Builder &b = node.b;
  Value input = node.input(0);
  if (reduction.axes.empty() && node.rank(0) > 0 && kind != Kind::SumSquare && kind != Kind::L1 &&
      kind != Kind::L2 && kind != Kind::LogSum) {
    node.forward(0, 0);
    return mlir::success();
  }
  mlir::Type element = node.elementType(0);
  mlir::Type accumulator = accumulates(kind) ? accumulatorType(element) : element;
  input = floatCast(b, input, accumulator);
  int64_t count = 1;
  for (int64_t axis : reduction.axes)
    count *= node.shape(0)[axis];
  if (count == 0 && kind == Kind::Mean)
    return node.fail("the mean of no elements is not defined (input " + shapeText(node.shape(0)) + ")");
  Value result =
      reduced(b, input, reduction.axes, initial(b, kind, type, accumulator), [&](Builder &inner, mlir::ValueRange v) {
        return combine(inner, kind, type, v[0], v[1]);
      });
  result = floatCast(b, finish(b, kind, type, result, count), element);
  node.setResult(0, reshapeTo(b, result, reducedShape(node.shape(0), reduction.axes, reduction.keepDims)));
  return mlir::success();
}

/// log(sum(exp(x - max))) + max
mlir::LogicalResult buildReduceLogSumExp(NodeContext &node) {
  Reduction reduction = describe(node);
  if (node.failedAlready())
    return mlir::failure();
  ElementType type = node.type(0), wide = isFloat(type) ? accumulatorType(type) : ElementType::F64;
  if (type == ElementType::Bool)
    return node.fail("operand is bool, expected numbers");
  Builder &b = node.b;
  llvm::ArrayRef<int64_t> shape = node.shape(0);
  mlir::Type accumulator = node.mlirType(wide);
  Value input = casted(b, node.input(0), type, wide);
  Value greatest = reduced(b, input, reduction.axes, initial(b, Kind::Max, wide, accumulator),
                           [&](Builder &inner, mlir::ValueRange v) {
                             return scalar::max(inner, ElementType::F32, v[0], v[1]);
                           });
  // Infinite maxima are subtracted as 0: inf - inf would be NaN.
  Value safe = mapped(b, greatest, [](Builder &inner, Value x) -> Value {
    Value zero = scalar::constantLike(inner, x, 0);
    Value difference = inner.create<arith::SubFOp>(x, x);
    Value finite = inner.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, difference, zero);
    return inner.create<arith::SelectOp>(finite, x, zero);
  });
  Value kept = reshapeTo(b, safe, reducedShape(shape, reduction.axes, /*keepDims=*/true));
  Value exponentials = elementwise(b, shape, accumulator,
                                   {broadcastOperand(b, input, shape), broadcastOperand(b, kept, shape)},
                                   [](Builder &inner, mlir::ValueRange v) -> Value {
                                     return inner.create<math::ExpOp>(scalar::sub(inner, v[0], v[1]));
                                   });
  Value sum = reduced(b, exponentials, reduction.axes, scalarConstant(b, accumulator, 0),
                      [](Builder &inner, mlir::ValueRange v) { return scalar::add(inner, v[0], v[1]); });
  llvm::ArrayRef<int64_t> small = shapeOf(sum);
  Value result = elementwise(b, small, accumulator, {broadcastOperand(b, sum, small), broadcastOperand(b, safe, small)},
                             [](Builder &inner, mlir::ValueRange v) -> Value {
                               return scalar::add(inner, inner.create<math::LogOp>(v[0]), v[1]);
                             });
  result = casted(b, result, wide, type);
  node.setResult(0, reshapeTo(b, result, reducedShape(shape, reduction.axes, reduction.keepDims)));
  return mlir::success();
}

/// The first or last position along `axis` at which each row has its greatest (or least) element, as i64.
Value placesOf(Builder &b, Value input, Value best, int64_t axis, ElementType type, bool last) {
  size_t rank = shapeOf(input).size();
  Shape outer(shapeOf(best));
  Value start = b.create<arith::ConstantOp>(b.getI64IntegerAttr(last ? -1 : std::numeric_limits<int64_t>::max()));
  Value init = filledTensor(b, outer, start);
  llvm::SmallVector<mlir::utils::IteratorType> loops(rank, mlir::utils::IteratorType::parallel);
  loops[axis] = mlir::utils::IteratorType::reduction;
  mlir::AffineMap whole = b.getMultiDimIdentityMap(rank), projected = whole.dropResult(axis);
  auto build = [&](mlir::OpBuilder &nested, mlir::Location location, mlir::ValueRange v) {
    Builder inner(location, nested);
    Value hit = scalar::compare(inner, scalar::Relation::Equal, type, v[0], v[1]);
    // The best of a row with NaN is NaN, which equals nothing.
    if (isFloat(type))
      hit = inner.create<arith::OrIOp>(hit, inner.create<arith::CmpFOp>(arith::CmpFPredicate::UNO, v[0], v[0]));
    Value here = inner.create<arith::IndexCastOp>(inner.getI64Type(), inner.create<mlir::linalg::IndexOp>(axis));
    Value joined = last ? inner.create<arith::MaxSIOp>(here, v[2]).getResult()
                        : inner.create<arith::MinSIOp>(here, v[2]).getResult();
    inner.create<mlir::linalg::YieldOp>(Value(inner.create<arith::SelectOp>(hit, joined, v[2])));
  };
  return b
      .create<mlir::linalg::GenericOp>(mlir::TypeRange{init.getType()}, mlir::ValueRange{input, best},
                                       mlir::ValueRange{init},
                                       llvm::ArrayRef<mlir::AffineMap>{whole, projected, projected}, loops, build)
      .getResult(0);
}

/// ArgMax and ArgMin: the greatest or least element, then where it is.
mlir::LogicalResult buildArg(NodeContext &node) {
  bool wantsMax = node.opType() == "ArgMax";
  bool last = node.intAttribute("select_last_index", 0) != 0;
  bool keepDims = node.intAttribute("keepdims", 1) != 0;
  llvm::ArrayRef<int64_t> shape = node.shape(0);
  int64_t axis = node.axisAttribute("axis", 0, shape.size());
  if (node.failedAlready())
    return mlir::failure();
  if (shape[axis] == 0)
    return node.fail("dimension " + llvm::Twine(axis) + " of " + shapeText(shape) + " is empty");
  ElementType type = node.type(0);
  Builder &b = node.b;
  Value input = node.input(0), init = initial(b, wantsMax ? Kind::Max : Kind::Min, type, node.elementType(0));
  Value best = reduced(b, input, axis, init, [&](Builder &inner, mlir::ValueRange v) {
    return wantsMax ? scalar::max(inner, type, v[0], v[1]) : scalar::min(inner, type, v[0], v[1]);
  });
  Value places = placesOf(b, input, best, axis, type, last);
  node.setResult(0, reshapeTo(b, places, reducedShape(shape, {axis}, keepDims)), ElementType::I64);
  return mlir::success();
}

constexpr OperatorEntry kOperators[] = {
    {"", "ArgMax", 1, 1, 1, buildArg},
    {"", "ArgMin", 1, 1, 1, buildArg},
    {"", "ReduceL1", 1, 1, 2, buildReduce<Kind::L1>},
    {"", "ReduceL2", 1, 1, 2, buildReduce<Kind::L2>},
    {"", "ReduceLogSum", 1, 1, 2, buildReduce<Kind::LogSum>},
    {"", "ReduceLogSumExp", 1, 1, 2, buildReduceLogSumExp},
    {"", "ReduceMax", 1, 1, 2, buildReduce<Kind::Max>},
    {"", "ReduceMean", 1, 1, 2, buildReduce<Kind::Mean>},
    {"", "ReduceMin", 1, 1, 2, buildReduce<Kind::Min>},
    {"", "ReduceProd", 1, 1, 2, buildReduce<Kind::Prod>},
    {"", "ReduceSum", 1, 1, 2, buildReduce<Kind::Sum>},
    {"", "ReduceSumSquare", 1, 1, 2, buildReduce<Kind::SumSquare>},
};

} // namespace

llvm::ArrayRef<OperatorEntry> reductionOperators() { return kOperators; }

} // namespace autotune
