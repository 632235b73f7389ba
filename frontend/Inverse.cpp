// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// com.microsoft's Inverse by Gauss-Jordan elimination, and its small operators on shapes.
#include "frontend/OperatorTable.h"
#include "frontend/Scalar.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace autotune {

namespace arith = mlir::arith;
namespace math = mlir::math;
using mlir::Value;

namespace {

// Three ops for each row.
constexpr int64_t kMaxInverseRows = 64;

/// The row from `step` on with the greatest magnitude in column `step`, for each matrix [batch, rows,
/// columns].
Value pivotRows(Builder &b, Value matrices, int64_t step) {
  Shape shape(shapeOf(matrices)), offset = {0, step, step}, size = {shape[0], shape[1] - step, 1};
  Value column = reshapeTo(b, sliceOf(b, matrices, offset, size, {1, 1, 1}), {shape[0], shape[1] - step});
  mlir::Type element = elementOf(matrices), index = b.getI64Type();
  Value greatest = filledTensor(b, shape[0], scalarConstant(b, element, -1));
  Value rows = filledTensor(b, shape[0], scalarConstant(b, index, static_cast<double>(step)));
  mlir::AffineMap whole = b.getMultiDimIdentityMap(2), projected = whole.dropResult(1);
  auto build = [&](mlir::OpBuilder &nested, mlir::Location location, mlir::ValueRange v) {
    Builder inner(location, nested);
    Value magnitude = inner.create<math::AbsFOp>(v[0]);
    Value position = inner.create<arith::IndexCastOp>(index, inner.create<mlir::linalg::IndexOp>(1));
    Value row = inner.create<arith::AddIOp>(position,
                                            scalar::constantLike(inner, position, static_cast<double>(step)));
    Value better = inner.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, magnitude, v[1]);
    Value value = inner.create<arith::SelectOp>(better, magnitude, v[1]);
    inner.create<mlir::linalg::YieldOp>(
        mlir::ValueRange{value, inner.create<arith::SelectOp>(better, row, v[2])});
  };
  using mlir::utils::IteratorType;
  return b
      .create<mlir::linalg::GenericOp>(
          mlir::TypeRange{greatest.getType(), rows.getType()}, mlir::ValueRange{column},
          mlir::ValueRange{greatest, rows}, llvm::ArrayRef<mlir::AffineMap>{whole, projected, projected},
          llvm::ArrayRef<IteratorType>{IteratorType::parallel, IteratorType::reduction}, build)
      .getResult(1);
}

/// Exchanges row `step` with the pivot's.
Value exchanged(Builder &b, Value matrices, Value pivots, int64_t step) {
  Shape shape(shapeOf(matrices));
  return elementwise(
      b, shape, elementOf(matrices), alongAxis(b, pivots, 0, 3),
      [&](Builder &inner, mlir::ValueRange v) -> Value {
        Value batch = inner.create<mlir::linalg::IndexOp>(0), row = inner.create<mlir::linalg::IndexOp>(1);
        Value column = inner.create<mlir::linalg::IndexOp>(2);
        Value pivot = inner.create<arith::IndexCastOp>(inner.getIndexType(), v[0]);
        Value current = inner.create<arith::ConstantIndexOp>(step);
        auto equal = [&](Value x, Value y) -> Value {
          return inner.create<arith::CmpIOp>(arith::CmpIPredicate::eq, x, y);
        };
        Value other = inner.create<arith::SelectOp>(equal(row, pivot), current, row);
        Value from = inner.create<arith::SelectOp>(equal(row, current), pivot, other);
        return inner.create<mlir::tensor::ExtractOp>(matrices, mlir::ValueRange{batch, from, column});
      });
}

/// Makes column `step` that of the unit matrix.
Value eliminated(Builder &b, Value matrices, int64_t step) {
  Shape shape(shapeOf(matrices));
  auto slice = [&](int64_t row, int64_t column, int64_t rows, int64_t columns, llvm::ArrayRef<int64_t> kept) {
    Value part = sliceOf(b, matrices, {0, row, column}, {shape[0], rows, columns}, {1, 1, 1});
    return reshapeTo(b, part, kept);
  };
  Value pivotRow = slice(step, 0, 1, shape[2], {shape[0], shape[2]});
  Value pivotColumn = slice(0, step, shape[1], 1, {shape[0], shape[1]});
  Value pivot = slice(step, step, 1, 1, shape[0]);
  mlir::AffineMap whole = b.getMultiDimIdentityMap(3);
  return elementwise(
      b, shape, elementOf(matrices),
      {broadcastOperand(b, matrices, shape), ElementwiseOperand{pivotRow, whole.dropResult(1), {}},
       ElementwiseOperand{pivotColumn, whole.dropResult(2), {}}, alongAxis(b, pivot, 0, 3)},
      [&](Builder &inner, mlir::ValueRange v) -> Value {
        Value scaled = inner.create<arith::DivFOp>(v[1], v[3]);
        Value reduced = scalar::sub(inner, v[0], scalar::mul(inner, v[2], scaled));
        Value isPivot =
            inner.create<arith::CmpIOp>(arith::CmpIPredicate::eq, inner.create<mlir::linalg::IndexOp>(1),
                                        inner.create<arith::ConstantIndexOp>(step));
        return inner.create<arith::SelectOp>(isPivot, scaled, reduced);
      });
}

mlir::LogicalResult buildInverse(NodeContext &node) {
  Shape shape(node.shape(0));
  int64_t rank = shape.size(), rows = rank < 2 ? 0 : shape.back();
  if (!isFloat(node.type(0)) || rows < 1 || shape[rank - 2] != rows || rows > kMaxInverseRows)
    return node.fail("input is " + spelling(node.type(0)) + " of shape " + shapeText(shape) +
                     ", expected square matrices of floats of at most " + llvm::Twine(kMaxInverseRows) +
                     " rows");
  Builder &b = node.b;
  int64_t batch = elementCount(llvm::ArrayRef<int64_t>(shape).drop_back(2));
  mlir::Type element = node.elementType(0), wide = accumulatorType(element);
  Value input = reshapeTo(b, floatCast(b, node.input(0), wide), {batch, rows, rows});
  Value unit =
      computedByIndex(b, {batch, rows, rows}, wide, [&](Builder &inner, mlir::ValueRange i) -> Value {
        Value diagonal = inner.create<arith::CmpIOp>(arith::CmpIPredicate::eq, i[1], i[2]);
        return inner.create<arith::SelectOp>(diagonal, scalarConstant(inner, wide, 1),
                                             scalarConstant(inner, wide, 0));
      });
  llvm::SmallVector<Value> parts = {input, unit};
  Value both = b.create<mlir::tensor::ConcatOp>(2, parts);
  for (int64_t step = 0; step < rows; ++step)
    both = eliminated(b, exchanged(b, both, pivotRows(b, both, step), step), step);
  Value inverse = sliceOf(b, both, {0, 0, rows}, {batch, rows, rows}, {1, 1, 1});
  node.setResult(0, reshapeTo(b, floatCast(b, inverse, element), shape));
  return mlir::success();
}

/// X, axis: a dimension of size 1 before `axis`, which counts from the result's end when it is negative.
mlir::LogicalResult buildExpandDims(NodeContext &node) {
  std::optional<std::vector<int64_t>> axes = node.constantInts(1);
  if (node.failedAlready())
    return mlir::failure();
  if (axes->size() != 1)
    return node.fail("the axis is not one number");
  int64_t axis = node.normalizedAxis(axes->front(), node.rank(0) + 1);
  if (node.failedAlready())
    return mlir::failure();
  Shape shape(node.shape(0));
  shape.insert(shape.begin() + axis, 1);
  if (const ConstantTensor *constant = node.constant(0))
    node.setResult(0, constant->reshaped(shape));
  else
    node.setResult(0, reshapeTo(node.b, node.input(0), shape), node.type(0));
  return mlir::success();
}

constexpr OperatorEntry kOperators[] = {
    {"com.microsoft", "ExpandDims", 1, 2, 2, buildExpandDims},
    {"com.microsoft", "Inverse", 1, 1, 1, buildInverse, "at most 64 rows"},
};

} // namespace

llvm::ArrayRef<OperatorEntry> inverseOperators() { return kOperators; }

} // namespace autotune
