// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// autotune.winograd_filter: what it computes, as the inverse of the transform.
#include "dialect/AutotuneDialect.h"
#include "dialect/Emit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace autotune {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
using mlir::Value;

mlir::LogicalResult WinogradFilterOp::verify() {
  int64_t outputs = getOutputs(), side = outputs + 2;
  if (outputs != 2 && outputs != 4)
    return emitOpError("has tiles of ") << outputs << " outputs, expected 2 or 4";
  Shape u(shapeOf(getTransformed())), g(shapeOf(getFilter()));
  bool agree = u.size() == 4 && g.size() == 6 && u[1] == side * side && g[0] == u[0] && g[2] == 3 &&
               g[3] == 3 && g[1] * g[4] == u[2] && g[5] == u[3];
  if (!agree)
    return emitOpError("is ") << getFilter().getType() << " of " << getTransformed().getType()
                              << ", expected [O, I / c, 3, 3, c, v] of [O, " << side * side << ", I, v]";
  return mlir::success();
}

namespace {

/// One entry of the matrix P with P G = 1: tap `row` of a filter is a sum over the points of its transform.
struct InverseTerm {
  int64_t row, point;
  float value;
};

llvm::ArrayRef<InverseTerm> inverseTerms(int64_t outputs) {
  static constexpr InverseTerm kTwo[] = {{0, 0, 1}, {1, 1, 1}, {1, 2, -1}, {2, 3, 1}};
  static constexpr InverseTerm kFour[] = {{0, 0, 4}, {1, 1, -3}, {1, 2, 3}, {2, 5, 1}};
  return outputs == 2 ? llvm::ArrayRef(kTwo) : llvm::ArrayRef(kFour);
}

/// P[row, point] for indices of a region.
Value inverseEntry(Builder &b, int64_t outputs, Value row, Value point) {
  auto isIndex = [&](Value index, int64_t number) {
    return b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, index, b.create<arith::ConstantIndexOp>(number));
  };
  Value entry = scalarConstant(b, b.getF32Type(), 0);
  for (auto [termRow, termPoint, value] : inverseTerms(outputs)) {
    Value here = b.create<arith::AndIOp>(isIndex(row, termRow), isIndex(point, termPoint));
    entry = b.create<arith::SelectOp>(here, scalarConstant(b, b.getF32Type(), value), entry);
  }
  return entry;
}

} // namespace

/// g = P u P^T, summed over the points (a, e): loops (o, ib, kh, kw, c, v | a, e).
mlir::FailureOr<llvm::SmallVector<Value>> WinogradFilterOp::decomposeOperation(mlir::OpBuilder &builder) {
  Builder b(getLoc(), builder);
  Shape shape(shapeOf(getFilter()));
  int64_t outputs = getOutputs(), side = outputs + 2;
  auto dim = [&](unsigned i) { return b.getAffineDimExpr(i); };
  mlir::AffineMap points = mlir::AffineMap::get(
      8, 0, {dim(0), dim(6) * side + dim(7), dim(1) * shape[4] + dim(4), dim(5)}, b.getContext());
  // The extents of (a, e) cannot be read off the points: an operand without data gives them.
  mlir::AffineMap extents = mlir::AffineMap::get(8, 0, {dim(6), dim(7)}, b.getContext());
  mlir::AffineMap result =
      mlir::AffineMap::get(8, 0, {dim(0), dim(1), dim(2), dim(3), dim(4), dim(5)}, b.getContext());
  llvm::SmallVector<mlir::utils::IteratorType> kinds(6, mlir::utils::IteratorType::parallel);
  kinds.append(2, mlir::utils::IteratorType::reduction);
  auto generic = b.create<linalg::GenericOp>(
      getFilter().getType(), mlir::ValueRange{getTransformed(), emptyTensor(b, {side, side}, b.getF32Type())},
      mlir::ValueRange{zeroTensor(b, shape, b.getF32Type())}, llvm::ArrayRef{points, extents, result}, kinds,
      [&](mlir::OpBuilder &at, mlir::Location loc, mlir::ValueRange args) {
        Builder inner(loc, at);
        auto loop = [&](int64_t i) { return inner.create<linalg::IndexOp>(i); };
        Value vertical = inverseEntry(inner, outputs, loop(2), loop(6));
        Value horizontal = inverseEntry(inner, outputs, loop(3), loop(7));
        Value weight = inner.create<arith::MulFOp>(vertical, horizontal);
        Value term = inner.create<arith::MulFOp>(weight, args[0]);
        inner.create<linalg::YieldOp>(mlir::ValueRange{inner.create<arith::AddFOp>(args[2], term)});
      });
  return llvm::SmallVector<Value>{generic.getResult(0)};
}

} // namespace autotune
