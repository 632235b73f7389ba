// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The few shapes of IR that ideas are made of.
#include "dialect/Emit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

namespace autotune {

using mlir::AffineExpr;
using mlir::AffineMap;
using mlir::Value;
using mlir::utils::IteratorType;

llvm::ArrayRef<int64_t> shapeOf(Value tensor) {
  return mlir::cast<mlir::RankedTensorType>(tensor.getType()).getShape();
}

mlir::Type elementOf(Value tensor) {
  return mlir::cast<mlir::RankedTensorType>(tensor.getType()).getElementType();
}

Value emptyTensor(Builder &b, llvm::ArrayRef<int64_t> shape, mlir::Type element) {
  return b.create<mlir::tensor::EmptyOp>(shape, element);
}

static mlir::TypedAttr scalarAttribute(Builder &b, mlir::Type type, double value) {
  if (mlir::isa<mlir::FloatType>(type))
    return b.getFloatAttr(type, value);
  return b.getIntegerAttr(type, static_cast<int64_t>(value));
}

Value scalarConstant(Builder &b, mlir::Type type, double value) {
  return b.create<mlir::arith::ConstantOp>(scalarAttribute(b, type, value));
}

Value filledTensor(Builder &b, llvm::ArrayRef<int64_t> shape, Value scalar) {
  Value init = emptyTensor(b, shape, scalar.getType());
  return b.create<mlir::linalg::FillOp>(scalar, init).getResult(0);
}

Value zeroTensor(Builder &b, llvm::ArrayRef<int64_t> shape, mlir::Type element) {
  return filledTensor(b, shape, scalarConstant(b, element, 0));
}

namespace {

using Groups = llvm::SmallVector<mlir::ReassociationIndices>;

/// Splits two shapes of equal element count into the finest groups with equal products.
void commonGroups(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to, Groups &fromGroups,
                  Groups &toGroups, Shape &middle) {
  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    fromGroups.push_back({static_cast<int64_t>(i)});
    toGroups.push_back({static_cast<int64_t>(j)});
    int64_t a = from[i++], c = to[j++];
    while (a != c) {
      if (a < c) {
        fromGroups.back().push_back(i);
        a *= from[i++];
      } else {
        toGroups.back().push_back(j);
        c *= to[j++];
      }
    }
    middle.push_back(a);
  }
  for (; i < from.size(); ++i)
    fromGroups.back().push_back(i);
  for (; j < to.size(); ++j)
    toGroups.back().push_back(j);
}

void wholeGroups(size_t rank, Groups &groups) {
  groups.emplace_back();
  for (size_t i = 0; i < rank; ++i)
    groups.back().push_back(i);
}

} // namespace

Value reshapeTo(Builder &b, Value tensor, llvm::ArrayRef<int64_t> shape) {
  llvm::ArrayRef<int64_t> from = shapeOf(tensor);
  if (from == shape)
    return tensor;
  mlir::Type element = elementOf(tensor);
  Groups fromGroups, toGroups;
  Shape middle;
  if (!from.empty() && !shape.empty()) {
    if (llvm::is_contained(shape, 0)) {
      wholeGroups(from.size(), fromGroups);
      wholeGroups(shape.size(), toGroups);
      middle.push_back(0);
    } else {
      commonGroups(from, shape, fromGroups, toGroups, middle);
    }
  }
  if (middle != from)
    tensor = b.create<mlir::tensor::CollapseShapeOp>(mlir::RankedTensorType::get(middle, element), tensor,
                                                     fromGroups);
  if (llvm::ArrayRef<int64_t>(middle) != shape)
    tensor =
        b.create<mlir::tensor::ExpandShapeOp>(mlir::RankedTensorType::get(shape, element), tensor, toGroups);
  return tensor;
}

Value transposed(Builder &b, Value tensor, llvm::ArrayRef<int64_t> permutation) {
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size())))
    return tensor;
  Shape shape;
  for (int64_t axis : permutation)
    shape.push_back(shapeOf(tensor)[axis]);
  Value init = emptyTensor(b, shape, elementOf(tensor));
  return b.create<mlir::linalg::TransposeOp>(tensor, init, permutation)->getResult(0);
}

Value padded(Builder &b, Value tensor, llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high,
             double value) {
  auto isZero = [](int64_t n) { return n == 0; };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero))
    return tensor;
  Shape shape;
  llvm::SmallVector<mlir::OpFoldResult> lowValues, highValues;
  for (auto [dim, before, after] : llvm::zip_equal(shapeOf(tensor), low, high)) {
    shape.push_back(dim + before + after);
    lowValues.push_back(b.getIndexAttr(before));
    highValues.push_back(b.getIndexAttr(after));
  }
  Value padding = scalarConstant(b, elementOf(tensor), value);
  return b.create<mlir::tensor::PadOp>(mlir::RankedTensorType::get(shape, elementOf(tensor)), tensor,
                                       lowValues, highValues, padding);
}

Value sliceOf(Builder &b, Value tensor, llvm::ArrayRef<int64_t> offset, llvm::ArrayRef<int64_t> size,
              llvm::ArrayRef<int64_t> step) {
  if (shapeOf(tensor) == size)
    return tensor;
  auto attributes = [&](llvm::ArrayRef<int64_t> values) {
    return llvm::map_to_vector(values, [&](int64_t v) -> mlir::OpFoldResult { return b.getIndexAttr(v); });
  };
  return b.create<mlir::tensor::ExtractSliceOp>(mlir::RankedTensorType::get(size, elementOf(tensor)), tensor,
                                                attributes(offset), attributes(size), attributes(step));
}

std::optional<Shape> broadcastShape(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b) {
  if (a.size() < b.size())
    std::swap(a, b);
  Shape result(a.begin(), a.end());
  size_t shift = a.size() - b.size();
  for (size_t i = 0; i < b.size(); ++i) {
    int64_t &dim = result[shift + i];
    if (dim == 1)
      dim = b[i];
    else if (b[i] != 1 && b[i] != dim)
      return std::nullopt;
  }
  return result;
}

namespace {

AffineMap projection(Builder &b, size_t rank, llvm::ArrayRef<unsigned> loops) {
  llvm::SmallVector<AffineExpr> results;
  for (unsigned loop : loops)
    results.push_back(b.getAffineDimExpr(loop));
  return AffineMap::get(rank, 0, results, b.getContext());
}

} // namespace

Broadcast broadcastOf(Builder &b, llvm::ArrayRef<int64_t> operand, llvm::ArrayRef<int64_t> shape) {
  Shape kept;
  llvm::SmallVector<unsigned> loops;
  size_t shift = shape.size() - operand.size();
  bool broadcasts = operand != shape;
  for (size_t i = 0; i < operand.size(); ++i) {
    if (broadcasts && operand[i] == 1)
      continue;
    kept.push_back(operand[i]);
    loops.push_back(shift + i);
  }
  return {kept, projection(b, shape.size(), loops)};
}

ElementwiseOperand broadcastOperand(Builder &b, Value tensor, llvm::ArrayRef<int64_t> shape) {
  Broadcast broadcast = broadcastOf(b, shapeOf(tensor), shape);
  return {reshapeTo(b, tensor, broadcast.kept), broadcast.map, {}};
}

ElementwiseOperand alongAxis(Builder &b, Value vector, int64_t axis, int64_t rank) {
  return {vector, projection(b, rank, {static_cast<unsigned>(axis)}), {}};
}

ElementwiseOperand numberOperand(Builder &b, mlir::Type type, double value) {
  return {{}, {}, scalarAttribute(b, type, value)};
}

Value elementwise(Builder &b, llvm::ArrayRef<int64_t> shape, mlir::Type element,
                  llvm::ArrayRef<ElementwiseOperand> operands, ScalarBody body) {
  llvm::SmallVector<Value> inputs;
  llvm::SmallVector<AffineMap> maps;
  for (const ElementwiseOperand &operand : operands) {
    if (operand.number)
      continue;
    inputs.push_back(operand.tensor);
    maps.push_back(operand.map);
  }
  maps.push_back(b.getMultiDimIdentityMap(shape.size()));
  llvm::SmallVector<IteratorType> loops(shape.size(), IteratorType::parallel);
  Value init = emptyTensor(b, shape, element);
  auto build = [&](mlir::OpBuilder &nested, mlir::Location location, mlir::ValueRange arguments) {
    Builder inner(location, nested);
    llvm::SmallVector<Value> scalars;
    size_t next = 0;
    for (const ElementwiseOperand &operand : operands)
      scalars.push_back(operand.number ? inner.create<mlir::arith::ConstantOp>(operand.number).getResult()
                                       : arguments[next++]);
    inner.create<mlir::linalg::YieldOp>(body(inner, scalars));
  };
  return b
      .create<mlir::linalg::GenericOp>(mlir::TypeRange{init.getType()}, inputs, mlir::ValueRange{init}, maps,
                                       loops, build)
      .getResult(0);
}

Shape reducedShape(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> axes, bool keepDims) {
  Shape result;
  for (auto [axis, dim] : llvm::enumerate(shape)) {
    bool folded = llvm::is_contained(axes, static_cast<int64_t>(axis));
    if (!folded || keepDims)
      result.push_back(folded ? 1 : dim);
  }
  return result;
}

Value reduced(Builder &b, Value tensor, llvm::ArrayRef<int64_t> axes, Value init, ScalarBody combine) {
  llvm::ArrayRef<int64_t> shape = shapeOf(tensor);
  llvm::SmallVector<IteratorType> loops;
  llvm::SmallVector<unsigned> kept;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    bool folded = llvm::is_contained(axes, static_cast<int64_t>(axis));
    loops.push_back(folded ? IteratorType::reduction : IteratorType::parallel);
    if (!folded)
      kept.push_back(axis);
  }
  Value start = filledTensor(b, reducedShape(shape, axes, false), init);
  llvm::SmallVector<AffineMap> maps = {b.getMultiDimIdentityMap(shape.size()),
                                       projection(b, shape.size(), kept)};
  auto build = [&](mlir::OpBuilder &nested, mlir::Location location, mlir::ValueRange arguments) {
    Builder inner(location, nested);
    inner.create<mlir::linalg::YieldOp>(combine(inner, arguments));
  };
  return b
      .create<mlir::linalg::GenericOp>(mlir::TypeRange{start.getType()}, mlir::ValueRange{tensor},
                                       mlir::ValueRange{start}, maps, loops, build)
      .getResult(0);
}

Value computedByIndex(Builder &b, llvm::ArrayRef<int64_t> shape, mlir::Type element, ScalarBody body) {
  return elementwise(b, shape, element, {}, [&](Builder &inner, mlir::ValueRange) {
    llvm::SmallVector<Value> indices;
    for (size_t i = 0; i < shape.size(); ++i)
      indices.push_back(inner.create<mlir::linalg::IndexOp>(i));
    return body(inner, indices);
  });
}

mlir::Type accumulatorType(mlir::Type element) {
  return element.isF16() || element.isBF16() ? mlir::Float32Type::get(element.getContext()) : element;
}

Value floatCast(Builder &b, Value tensor, mlir::Type element) {
  mlir::Type from = elementOf(tensor);
  if (from == element)
    return tensor;
  llvm::ArrayRef<int64_t> shape = shapeOf(tensor);
  bool widens = from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth();
  return elementwise(b, shape, element, broadcastOperand(b, tensor, shape),
                     [&](Builder &inner, mlir::ValueRange v) -> Value {
                       if (widens)
                         return inner.create<mlir::arith::ExtFOp>(element, v[0]);
                       return inner.create<mlir::arith::TruncFOp>(element, v[0]);
                     });
}

std::string shapeText(llvm::ArrayRef<int64_t> shape) {
  if (shape.empty())
    return "scalar";
  // A message is for reading: real tensors have few dimensions.
  constexpr size_t kShown = 16;
  auto shown = llvm::map_range(shape.take_front(kShown), [](int64_t dim) { return std::to_string(dim); });
  return llvm::join(shown, "x") + (shape.size() > kShown ? "x…" : "");
}

} // namespace autotune
