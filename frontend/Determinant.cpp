// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Det: elimination with row pivots, one column at a time, for all matrices at once.
#include "frontend/OperatorTable.h"
#include "frontend/Scalar.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace autotune {

namespace arith = mlir::arith;
using mlir::Value;
using mlir::utils::IteratorType;

namespace {

// Each column becomes code of its own.
constexpr int64_t kMaxRows = 256;

Value whole(Builder &b, int64_t value) { return b.create<arith::ConstantOp>(b.getI64IntegerAttr(value)); }

/// [batch]: the row with the greatest magnitude in the first column.
Value pivotRows(Builder &b, Value matrices) {
  int64_t batch = shapeOf(matrices)[0], rows = shapeOf(matrices)[1];
  mlir::Type element = elementOf(matrices);
  Value column = reshapeTo(b, sliceOf(b, matrices, {0, 0, 0}, {batch, rows, 1}, {1, 1, 1}), {batch, rows});
  auto magnitude = [](Builder &inner, Value x) { return scalar::abs(inner, ElementType::F32, x); };
  Value greatest =
      reduced(b, column, 1, scalarConstant(b, element, 0), [&](Builder &inner, mlir::ValueRange v) {
        return scalar::max(inner, ElementType::F32, magnitude(inner, v[0]), v[1]);
      });
  // The last row that has it; the first one where all are NaN.
  mlir::AffineMap both = b.getMultiDimIdentityMap(2), outer = both.dropResult(1);
  Value init = filledTensor(b, batch, whole(b, 0));
  auto build = [&](mlir::OpBuilder &nested, mlir::Location location, mlir::ValueRange v) {
    Builder inner(location, nested);
    Value hit =
        scalar::compare(inner, scalar::Relation::Equal, ElementType::F32, magnitude(inner, v[0]), v[1]);
    Value row = inner.create<arith::IndexCastOp>(inner.getI64Type(), inner.create<mlir::linalg::IndexOp>(1));
    inner.create<mlir::linalg::YieldOp>(Value(inner.create<arith::SelectOp>(hit, row, v[2])));
  };
  llvm::SmallVector<IteratorType> loops = {IteratorType::parallel, IteratorType::reduction};
  return b
      .create<mlir::linalg::GenericOp>(mlir::TypeRange{init.getType()}, mlir::ValueRange{column, greatest},
                                       mlir::ValueRange{init},
                                       llvm::ArrayRef<mlir::AffineMap>{both, outer, outer}, loops, build)
      .getResult(0);
}

Value elementAt(Builder &b, Value matrices, Value batch, Value row, Value column) {
  return b.create<mlir::tensor::ExtractOp>(matrices, mlir::ValueRange{batch, row, column});
}

/// The matrices without the pivot's row and the first column, after the elimination.
Value eliminated(Builder &b, Value matrices, Value pivots) {
  Shape shape(shapeOf(matrices));
  --shape[1];
  --shape[2];
  ElementwiseOperand pivot{pivots, mlir::AffineMap::get(3, 0, b.getAffineDimExpr(0), b.getContext()), {}};
  return elementwise(b, shape, elementOf(matrices), pivot, [&](Builder &inner, mlir::ValueRange v) -> Value {
    auto loop = [&](int64_t i) -> Value { return inner.create<mlir::linalg::IndexOp>(i); };
    Value zero = inner.create<arith::ConstantIndexOp>(0), one = inner.create<arith::ConstantIndexOp>(1);
    Value pivotRow = inner.create<arith::IndexCastOp>(inner.getIndexType(), v[0]);
    // Row 0 takes the place of the pivot's row.
    Value below = inner.create<arith::AddIOp>(loop(1), one);
    Value isPivot = inner.create<arith::CmpIOp>(arith::CmpIPredicate::eq, below, pivotRow);
    Value row = inner.create<arith::SelectOp>(isPivot, zero, below);
    Value column = inner.create<arith::AddIOp>(loop(2), one);
    Value pivotValue = elementAt(inner, matrices, loop(0), pivotRow, zero);
    Value ratio = inner.create<arith::DivFOp>(elementAt(inner, matrices, loop(0), row, zero), pivotValue);
    Value none = scalar::constantLike(inner, ratio, 0);
    Value singular = scalar::compare(inner, scalar::Relation::Equal, ElementType::F32, pivotValue, none);
    ratio = inner.create<arith::SelectOp>(singular, none, ratio);
    Value product = scalar::mul(inner, ratio, elementAt(inner, matrices, loop(0), pivotRow, column));
    return scalar::sub(inner, elementAt(inner, matrices, loop(0), row, column), product);
  });
}

mlir::LogicalResult buildDet(NodeContext &node) {
  llvm::ArrayRef<int64_t> shape = node.shape(0);
  size_t rank = shape.size();
  if (rank < 2 || !isFloat(node.type(0)) || shape[rank - 1] != shape[rank - 2] || shape.back() < 1 ||
      shape.back() > kMaxRows)
    return node.fail("input is " + spelling(node.type(0)) + " of shape " + shapeText(shape) +
                     ", expected floats that are square matrices of at most " + llvm::Twine(kMaxRows) +
                     " rows");
  Builder &b = node.b;
  Shape outer(shape.drop_back(2));
  int64_t batch = elementCount(outer), rows = shape.back();
  mlir::Type element = node.elementType(0), type = accumulatorType(element);
  Value matrices = reshapeTo(b, floatCast(b, node.input(0), type), {batch, rows, rows});
  Value determinant = filledTensor(b, batch, scalarConstant(b, type, 1));
  for (; rows > 1; --rows) {
    Value pivots = pivotRows(b, matrices);
    determinant = elementwise(
        b, batch, type, {broadcastOperand(b, determinant, batch), broadcastOperand(b, pivots, batch)},
        [&](Builder &inner, mlir::ValueRange v) -> Value {
          Value row = inner.create<arith::IndexCastOp>(inner.getIndexType(), v[1]);
          Value pivot = elementAt(inner, matrices, inner.create<mlir::linalg::IndexOp>(0), row,
                                  inner.create<arith::ConstantIndexOp>(0));
          // Exchanging two rows turns the sign.
          Value stays = inner.create<arith::CmpIOp>(arith::CmpIPredicate::eq, v[1], whole(inner, 0));
          Value factor = inner.create<arith::SelectOp>(stays, pivot, scalar::negate(inner, pivot));
          return scalar::mul(inner, v[0], factor);
        });
    matrices = eliminated(b, matrices, pivots);
  }
  Value last = reshapeTo(b, matrices, batch);
  Value result =
      elementwise(b, batch, type, {broadcastOperand(b, determinant, batch), broadcastOperand(b, last, batch)},
                  [](Builder &inner, mlir::ValueRange v) { return scalar::mul(inner, v[0], v[1]); });
  node.setResult(0, floatCast(b, reshapeTo(b, result, outer), element));
  return mlir::success();
}

constexpr OperatorEntry kOperators[] = {
    {"", "Det", 11, 1, 1, buildDet, "at most 256 rows"},
};

} // namespace

llvm::ArrayRef<OperatorEntry> determinantOperators() { return kOperators; }

} // namespace autotune
