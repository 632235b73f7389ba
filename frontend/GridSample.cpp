// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GridSample and AffineGrid: an image read at coordinates given by a tensor, and the tensor of an affine map.
#include "frontend/OperatorTable.h"
#include "frontend/Sampling.h"
#include "frontend/Scalar.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace autotune {

namespace arith = mlir::arith;
using mlir::Value;
using sampling::Padding;

namespace {

enum class Mode { Nearest, Linear, Cubic };

mlir::FailureOr<Mode> readMode(NodeContext &node) {
  std::string mode = node.stringAttribute("mode", node.version() < 20 ? "bilinear" : "linear");
  if (mode == "nearest")
    return Mode::Nearest;
  if (mode == "linear" || mode == "bilinear")
    return Mode::Linear;
  if (mode == "cubic" || mode == "bicubic")
    return Mode::Cubic;
  return node.fail("mode '" + mode + "' is not nearest, linear or cubic");
}

mlir::FailureOr<Padding> readPadding(NodeContext &node) {
  std::string padding = node.stringAttribute("padding_mode", "zeros");
  if (padding == "zeros")
    return Padding::Zeros;
  if (padding == "border")
    return Padding::Border;
  if (padding == "reflection")
    return Padding::Reflection;
  return node.fail("padding_mode '" + padding + "' is not zeros, border or reflection");
}

/// The grid has a position for each output element, with one number for each spatial dimension of X.
mlir::LogicalResult checkShapes(NodeContext &node, Mode mode) {
  llvm::ArrayRef<int64_t> x = node.shape(0), grid = node.shape(1);
  bool fits = x.size() >= 3 && grid.size() == x.size() && grid[0] == x[0] &&
              grid.back() == static_cast<int64_t>(x.size()) - 2 && isFloat(node.type(1));
  if (!fits || !llvm::all_of(x, [](int64_t dim) { return dim > 0; }))
    return node.fail("X " + shapeText(x) + " and grid " + shapeText(grid) + " of " + spelling(node.type(1)) +
                     " do not fit");
  if (mode != Mode::Nearest && !isFloat(node.type(0)))
    return node.fail("X is " + spelling(node.type(0)) + ", expected floats for this mode");
  return mlir::success();
}

/// From [-1, 1] to element numbers.
Value denormalized(Builder &b, Value normal, const sampling::Axis &axis) {
  double size = static_cast<double>(axis.size);
  Value shifted = scalar::add(b, normal, scalar::constantLike(b, normal, 1));
  if (axis.alignCorners)
    return scalar::mul(b, shifted, scalar::constantLike(b, normal, (size - 1) / 2));
  Value scaled = scalar::mul(b, shifted, scalar::constantLike(b, normal, size / 2));
  return scalar::sub(b, scaled, scalar::constantLike(b, normal, 0.5));
}

mlir::LogicalResult buildGridSample(NodeContext &node) {
  mlir::FailureOr<Mode> mode = readMode(node);
  mlir::FailureOr<Padding> padding = readPadding(node);
  if (failed(mode) || failed(padding) || failed(checkShapes(node, *mode)))
    return mlir::failure();
  Builder &b = node.b;
  Shape input(node.shape(0)), shape(node.shape(0).take_front(2));
  llvm::append_range(shape, node.shape(1).drop_front().drop_back());
  size_t dims = input.size() - 2;
  ElementType type = node.type(0), gridType = node.type(1);
  bool wide = type == ElementType::F64 || gridType == ElementType::F64;
  ElementType number = wide ? ElementType::F64 : ElementType::F32;
  ElementType sum = isFloat(type) ? number : type;
  bool alignCorners = node.intAttribute("align_corners", 0) != 0;
  Value image = node.input(0), grid = node.input(1);
  auto body = [&](Builder &inner, mlir::ValueRange i) -> Value {
    llvm::SmallVector<sampling::Taps> taps;
    for (size_t d = 0; d < dims; ++d) {
      sampling::Axis axis{input[2 + d], *padding, alignCorners};
      llvm::SmallVector<Value> at = {i[0]};
      llvm::append_range(at, i.drop_front(2));
      at.push_back(
          inner.create<arith::ConstantIndexOp>(dims - 1 - d)); // the grid begins with the last dimension
      Value normal = scalar::cast(inner, inner.create<mlir::tensor::ExtractOp>(grid, at), gridType, number);
      Value x = denormalized(inner, normal, axis);
      if (*mode == Mode::Nearest)
        taps.push_back(sampling::nearest(inner, axis, x, /*tiesToEven=*/dims != 3));
      else if (*mode == Mode::Linear)
        taps.push_back(sampling::linear(inner, axis, sampling::paddedCoordinate(inner, axis, x)));
      else
        taps.push_back(sampling::cubic(inner, axis, sampling::paddedCoordinate(inner, axis, x)));
    }
    Value value = sampling::weightedSum(inner, image, {i[0], i[1]}, taps, node.mlirType(sum));
    return scalar::cast(inner, value, sum, type);
  };
  node.setResult(0, computedByIndex(b, shape, node.elementType(0), body), type);
  return mlir::success();
}

/// Positions along a dimension from -1 to 1: the centres of the elements, or with the outermost ones at the
/// ends.
ConstantTensor axisPositions(ElementType type, int64_t size, bool alignCorners) {
  std::vector<char> bytes(size * byteSize(type));
  for (int64_t i = 0; i < size; ++i) {
    double count = static_cast<double>(size), at = static_cast<double>(i);
    double position = alignCorners ? (size == 1 ? -1 : 2 * at / (count - 1) - 1) : (2 * at + 1) / count - 1;
    storeFloat(bytes.data() + i * byteSize(type), type, position);
  }
  return ConstantTensor::own(type, {size}, std::move(bytes));
}

/// grid[n, position…, k] = theta[n, k, 0] * x + theta[n, k, 1] * y (+ …) + theta[n, k, last]
mlir::LogicalResult buildAffineGrid(NodeContext &node) {
  std::optional<std::vector<int64_t>> size = node.constantInts(1);
  if (node.failedAlready())
    return mlir::failure();
  int64_t dims = static_cast<int64_t>(size->size()) - 2;
  if (!isFloat(node.type(0)) || (dims != 2 && dims != 3) ||
      node.shape(0) != llvm::ArrayRef<int64_t>({(*size)[0], dims, dims + 1}))
    return node.fail("theta of shape " + shapeText(node.shape(0)) + " does not fit the size " +
                     shapeText(*size));
  Builder &b = node.b;
  ElementType type = node.type(0), number = byteSize(type) == 2 ? ElementType::F32 : type;
  Shape shape = {(*size)[0]};
  shape.append(size->begin() + 2, size->end());
  shape.push_back(dims);
  if (llvm::any_of(shape, [](int64_t dim) { return dim < 1; }) || !checkedByteCount(shape, type))
    return node.fail("the size " + shapeText(*size) + " is not possible");
  bool alignCorners = node.intAttribute("align_corners", 0) != 0;
  mlir::AffineExpr n = b.getAffineDimExpr(0), k = b.getAffineDimExpr(dims + 1);
  llvm::SmallVector<ElementwiseOperand> operands;
  for (int64_t column = 0; column <= dims; ++column) {
    Value part = reshapeTo(b, sliceOf(b, node.input(0), {0, 0, column}, {shape[0], dims, 1}, {1, 1, 1}),
                           {shape[0], dims});
    operands.push_back({part, mlir::AffineMap::get(dims + 2, 0, {n, k}, b.getContext()), {}});
  }
  for (int64_t axis = dims; axis >= 1; --axis)
    operands.push_back(
        alongAxis(b, node.materialize(axisPositions(number, shape[axis], alignCorners)), axis, dims + 2));
  node.setResult(
      0, elementwise(b, shape, node.elementType(0), operands, [&](Builder &inner, mlir::ValueRange v) {
        Value sum = scalar::cast(inner, v[dims], type, number);
        for (int64_t column = 0; column < dims; ++column)
          sum = scalar::add(
              inner, sum,
              scalar::mul(inner, scalar::cast(inner, v[column], type, number), v[dims + 1 + column]));
        return scalar::cast(inner, sum, number, type);
      }));
  return mlir::success();
}

constexpr OperatorEntry kOperators[] = {
    {"", "AffineGrid", 20, 2, 2, buildAffineGrid},
    {"", "GridSample", 16, 2, 2, buildGridSample},
};

} // namespace

llvm::ArrayRef<OperatorEntry> samplingOperators() { return kOperators; }

} // namespace autotune
