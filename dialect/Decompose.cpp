// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the decompositions share, and softmax.
#include "dialect/Decompose.h"

#include "dialect/AutotuneDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

#include <limits>

namespace autotune {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
using mlir::Value;

bool isIdea(mlir::Operation *op) { return mlir::isa<linalg::AggregatedOpInterface>(op); }

mlir::FailureOr<llvm::SmallVector<Value>> decomposeIdea(mlir::OpBuilder &builder, mlir::Operation *op) {
  auto softmax = mlir::dyn_cast<linalg::SoftmaxOp>(op);
  if (!softmax)
    return mlir::cast<linalg::AggregatedOpInterface>(op).decomposeOperation(builder);
  auto type = mlir::dyn_cast<mlir::RankedTensorType>(softmax.getInput().getType());
  if (!type || !type.hasStaticShape() || !mlir::isa<mlir::FloatType>(type.getElementType()))
    return mlir::failure();
  Builder b(op->getLoc(), builder);
  Value wide = floatCast(b, softmax.getInput(), accumulatorType(type.getElementType()));
  Value result = softmaxInPieces(b, wide, softmax.getDimension());
  return llvm::SmallVector<Value>{floatCast(b, result, type.getElementType())};
}

ElementwiseOperand foldedOperand(Builder &b, Value tensor, llvm::ArrayRef<int64_t> shape) {
  mlir::DenseElementsAttr constant;
  if (!mlir::matchPattern(tensor, mlir::m_Constant(&constant)))
    return broadcastOperand(b, tensor, shape);
  if (constant.isSplat())
    return {{}, {}, mlir::cast<mlir::TypedAttr>(constant.getSplatValue<mlir::Attribute>())};
  Broadcast broadcast = broadcastOf(b, constant.getType().getShape(), shape);
  if (broadcast.kept.size() != static_cast<size_t>(constant.getType().getRank())) {
    auto type = mlir::RankedTensorType::get(broadcast.kept, constant.getElementType());
    tensor = b.create<arith::ConstantOp>(constant.reshape(type));
  }
  return {tensor, broadcast.map, {}};
}

ElementwiseOperand alongKept(Builder &b, Value rows, llvm::ArrayRef<int64_t> folded, size_t rank) {
  llvm::SmallVector<mlir::AffineExpr> kept;
  for (size_t axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(folded, static_cast<int64_t>(axis)))
      kept.push_back(b.getAffineDimExpr(axis));
  return {rows, mlir::AffineMap::get(rank, 0, kept, b.getContext()), {}};
}

Value softmaxInPieces(Builder &b, Value input, int64_t axis) {
  Shape shape(shapeOf(input));
  mlir::Type element = elementOf(input);
  Value least = scalarConstant(b, element, -std::numeric_limits<double>::infinity());
  Value greatest = reduced(b, input, axis, least, [](Builder &inner, mlir::ValueRange v) -> Value {
    return inner.create<arith::MaximumFOp>(v[0], v[1]);
  });
  Value exponentials = elementwise(
      b, shape, element, {broadcastOperand(b, input, shape), alongKept(b, greatest, axis, shape.size())},
      [](Builder &inner, mlir::ValueRange v) -> Value {
        Value shifted = inner.create<arith::SubFOp>(v[0], v[1]);
        return inner.create<mlir::math::ExpOp>(shifted);
      });
  Value sum = reduced(
      b, exponentials, axis, scalarConstant(b, element, 0),
      [](Builder &inner, mlir::ValueRange v) -> Value { return inner.create<arith::AddFOp>(v[0], v[1]); });
  return elementwise(
      b, shape, element, {broadcastOperand(b, exponentials, shape), alongKept(b, sum, axis, shape.size())},
      [](Builder &inner, mlir::ValueRange v) -> Value { return inner.create<arith::DivFOp>(v[0], v[1]); });
}

} // namespace autotune
