// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MaxPool, AveragePool, LpPool and their global forms.
#include "frontend/Pooling.h"

#include "frontend/OperatorTable.h"
#include "frontend/Scalar.h"
#include "frontend/Window.h"
#include "frontend/WindowGather.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <limits>

namespace autotune {

namespace arith = mlir::arith;
using mlir::Value;

namespace {

mlir::FailureOr<Window> poolingWindow(NodeContext &node, llvm::ArrayRef<int64_t> input) {
  if (input.size() < 3 || input.size() > 5)
    return node.fail("input " + shapeText(input) + ", expected rank 3, 4 or 5");
  if (!node.hasAttribute("kernel_shape"))
    return node.fail("attribute 'kernel_shape' is missing");
  return windowOf(node, input.drop_front(2), node.intsAttribute("kernel_shape"),
                  node.intAttribute("ceil_mode", 0) != 0);
}

Shape outputShape(Value input, const Window &window) {
  Shape shape(shapeOf(input).take_front(2));
  shape.append(window.output.begin(), window.output.end());
  return shape;
}

template <typename Op1D, typename Op2D, typename Op3D>
Value emitPooling(Builder &b, const Window &window, Value input, Value init) {
  Value shape = emptyTensor(b, window.kernel, elementOf(input));
  llvm::SmallVector<Value> operands = {input, shape};
  auto emit = [&]<typename Op>(Op *) -> Value {
    return b
        .create<Op>(mlir::TypeRange{init.getType()}, operands, mlir::ValueRange{init},
                    b.getI64TensorAttr(window.strides), b.getI64TensorAttr(window.dilations))
        .getResult(0);
  };
  switch (window.kernel.size()) {
  case 1:
    return emit(static_cast<Op1D *>(nullptr));
  case 2:
    return emit(static_cast<Op2D *>(nullptr));
  default:
    return emit(static_cast<Op3D *>(nullptr));
  }
}

/// MLIR pools NCDHW only as NDHWC.
llvm::SmallVector<int64_t> channelsLast(size_t rank) {
  llvm::SmallVector<int64_t> permutation = {0};
  for (size_t i = 2; i < rank; ++i)
    permutation.push_back(i);
  permutation.push_back(1);
  return permutation;
}

llvm::SmallVector<int64_t> channelsFirst(size_t rank) {
  llvm::SmallVector<int64_t> permutation = {0, static_cast<int64_t>(rank) - 1};
  for (size_t i = 1; i + 1 < rank; ++i)
    permutation.push_back(i);
  return permutation;
}

/// Pools with `init` as the neutral element of a sum or a maximum.
Value pooled(Builder &b, const Window &window, Value input, bool sum) {
  mlir::Type element = elementOf(input);
  mlir::TypedAttr least = scalar::lowest(b, element, ElementType::I64);
  double padding = 0;
  if (!sum)
    padding = mlir::isa<mlir::FloatType>(element)
                  ? -std::numeric_limits<double>::infinity()
                  : static_cast<double>(llvm::cast<mlir::IntegerAttr>(least).getInt());
  input = padded(b, input, withLeadingZeros(window.padLow), withLeadingZeros(window.padHigh), padding);
  bool move = window.kernel.size() == 3;
  Shape shape = outputShape(input, window);
  if (move) {
    input = transposed(b, input, channelsLast(shape.size()));
    std::rotate(shape.begin() + 1, shape.begin() + 2, shape.end());
  }
  Value start = sum ? scalarConstant(b, element, 0) : b.create<arith::ConstantOp>(least).getResult();
  Value init = filledTensor(b, shape, start);
  Value result;
  if (sum)
    result = emitPooling<mlir::linalg::PoolingNcwSumOp, mlir::linalg::PoolingNchwSumOp,
                         mlir::linalg::PoolingNdhwcSumOp>(b, window, input, init);
  else
    result = emitPooling<mlir::linalg::PoolingNcwMaxOp, mlir::linalg::PoolingNchwMaxOp,
                         mlir::linalg::PoolingNdhwcMaxOp>(b, window, input, init);
  return move ? transposed(b, result, channelsFirst(shape.size())) : result;
}

/// How many elements the window at `position` reads along one dimension: inside the input, or also of the
/// padding the model asked for (which never includes what ceil_mode adds).
int64_t readAlong(const Window &window, size_t dim, int64_t input, int64_t position, bool includePadding) {
  int64_t start = position * window.strides[dim] - window.padLow[dim];
  int64_t low = includePadding ? -window.padLow[dim] : 0;
  int64_t high = input + (includePadding ? window.modelPadHigh[dim] : 0);
  // Kernel positions k with low <= start + k * step < high.
  int64_t step = window.dilations[dim];
  int64_t first = start >= low ? 0 : (low - start + step - 1) / step;
  int64_t end = start >= high ? 0 : std::min(window.kernel[dim], (high - start + step - 1) / step);
  return std::max<int64_t>(end - first, 0);
}

/// 1 / (number of elements that count) for each window.
ConstantTensor reciprocals(const Window &window, llvm::ArrayRef<int64_t> spatial, bool includePadding) {
  std::vector<float> values(1, 1.0f);
  for (size_t dim = 0; dim < spatial.size(); ++dim) {
    std::vector<float> next;
    for (float outer : values)
      for (int64_t i = 0; i < window.output[dim]; ++i)
        next.push_back(outer * readAlong(window, dim, spatial[dim], i, includePadding));
    values = std::move(next);
  }
  for (float &value : values)
    value = 1.0f / value;
  return ConstantTensor::floats(window.output, values);
}

} // namespace

mlir::FailureOr<Value> averagePooled(NodeContext &node, Value input) {
  Shape inputShape(shapeOf(input));
  mlir::FailureOr<Window> window = poolingWindow(node, inputShape);
  if (failed(window))
    return mlir::failure();
  if (!checkedByteCount(window->output, ElementType::F32))
    return node.fail("the result " + shapeText(window->output) + " is too large");
  if (failed(node.spend(elementCount(window->output))))
    return mlir::failure();
  Builder &b = node.b;
  mlir::Type element = elementOf(input), accumulator = accumulatorType(element);
  Value sum = pooled(b, *window, floatCast(b, input, accumulator), /*sum=*/true);
  bool includePadding = node.intAttribute("count_include_pad", 0) != 0;
  ConstantTensor scale =
      reciprocals(*window, llvm::ArrayRef<int64_t>(inputShape).drop_front(2), includePadding);
  llvm::ArrayRef<int64_t> shape = shapeOf(sum);
  ElementwiseOperand factor = numberOperand(b, accumulator, scale.floatAt(0));
  if (!scale.isSplat())
    factor = broadcastOperand(b, floatCast(b, node.materialize(scale), accumulator), shape);
  Value average =
      elementwise(b, shape, accumulator, {broadcastOperand(b, sum, shape), factor},
                  [](Builder &inner, mlir::ValueRange v) { return scalar::mul(inner, v[0], v[1]); });
  return floatCast(b, average, element);
}

Value globalAverage(Builder &b, Value input) {
  Shape shape(shapeOf(input));
  auto axes = llvm::to_vector(llvm::seq<int64_t>(2, shape.size()));
  mlir::Type element = elementOf(input), accumulator = accumulatorType(element);
  Value sum = reduced(b, floatCast(b, input, accumulator), axes, scalarConstant(b, accumulator, 0),
                      [](Builder &inner, mlir::ValueRange v) { return scalar::add(inner, v[0], v[1]); });
  double scale = 1.0 / static_cast<double>(elementCount(llvm::ArrayRef<int64_t>(shape).drop_front(2)));
  llvm::ArrayRef<int64_t> small = shapeOf(sum);
  Value average = elementwise(b, small, accumulator, broadcastOperand(b, sum, small),
                              [&](Builder &inner, mlir::ValueRange v) {
                                return scalar::mul(inner, v[0], scalar::constantLike(inner, v[0], scale));
                              });
  return reshapeTo(b, floatCast(b, average, element), reducedShape(shape, axes, /*keepDims=*/true));
}

namespace {

mlir::LogicalResult buildMaxPool(NodeContext &node) {
  mlir::FailureOr<Window> window = poolingWindow(node, node.shape(0));
  if (failed(window))
    return mlir::failure();
  if (node.isOutputUsed(1)) {
    auto [values, indices] = maximaWithIndices(node, *window, node.intAttribute("storage_order", 0) != 0);
    node.setResult(0, values);
    node.setResult(1, indices, ElementType::I64);
    return mlir::success();
  }
  ElementType type = node.type(0);
  if (!isUnsigned(type)) {
    node.setResult(0, pooled(node.b, *window, node.input(0), /*sum=*/false));
    return mlir::success();
  }
  // linalg's maximum is signed: unsigned elements take a wider type on the way.
  if (byteSize(type) > 2)
    return node.fail("elements of type " + spelling(type) + " are not supported");
  Value wide = casted(node.b, node.input(0), type, ElementType::I32);
  node.setResult(0, casted(node.b, pooled(node.b, *window, wide, /*sum=*/false), ElementType::I32, type));
  return mlir::success();
}

mlir::LogicalResult buildAveragePool(NodeContext &node) {
  if (!isFloat(node.type(0)))
    return node.fail("input is " + spelling(node.type(0)) + ", expected floats");
  mlir::FailureOr<Value> result = averagePooled(node, node.input(0));
  if (failed(result))
    return mlir::failure();
  node.setResult(0, *result);
  return mlir::success();
}

mlir::LogicalResult requireSpatialFloats(NodeContext &node) {
  if (node.rank(0) >= 3 && isFloat(node.type(0)))
    return mlir::success();
  return node.fail("input is " + spelling(node.type(0)) + " of shape " + shapeText(node.shape(0)) +
                   ", expected floats of rank 3 or more");
}

mlir::LogicalResult buildGlobalAveragePool(NodeContext &node) {
  if (failed(requireSpatialFloats(node)))
    return mlir::failure();
  node.setResult(0, globalAverage(node.b, node.input(0)));
  return mlir::success();
}

mlir::LogicalResult buildGlobalMaxPool(NodeContext &node) {
  if (failed(requireSpatialFloats(node)))
    return mlir::failure();
  Builder &b = node.b;
  auto axes = llvm::to_vector(llvm::seq<int64_t>(2, node.rank(0)));
  Value least = b.create<arith::ConstantOp>(scalar::lowest(b, node.elementType(0), node.type(0)));
  Value result = reduced(b, node.input(0), axes, least, [&](Builder &inner, mlir::ValueRange v) {
    return scalar::max(inner, node.type(0), v[0], v[1]);
  });
  node.setResult(0, reshapeTo(b, result, reducedShape(node.shape(0), axes, /*keepDims=*/true)));
  return mlir::success();
}

/// |x| ^ p
Value poweredMagnitude(Builder &b, Value x, int64_t p) {
  if (p == 2)
    return scalar::mul(b, x, x);
  Value magnitude = b.create<mlir::math::AbsFOp>(x);
  return p == 1 ? magnitude
                : b.create<mlir::math::PowFOp>(magnitude, scalar::constantLike(b, x, static_cast<double>(p)))
                      .getResult();
}

Value root(Builder &b, Value x, int64_t p) {
  if (p == 1)
    return x;
  if (p == 2)
    return b.create<mlir::math::SqrtOp>(x);
  return b.create<mlir::math::PowFOp>(x, scalar::constantLike(b, x, 1.0 / static_cast<double>(p)));
}

/// (sum of |x| ^ p) ^ (1 / p) over windows, or over all spatial dimensions.
template <bool global> mlir::LogicalResult buildLpPool(NodeContext &node) {
  int64_t p = node.intAttribute("p", 2);
  if (failed(requireSpatialFloats(node)))
    return mlir::failure();
  if (p < 1)
    return node.fail("p is " + llvm::Twine(p) + ", expected 1 or more");
  Builder &b = node.b;
  Shape shape(node.shape(0));
  mlir::Type element = node.elementType(0), accumulator = accumulatorType(element);
  Value input = floatCast(b, node.input(0), accumulator);
  Value powers =
      elementwise(b, shape, accumulator, broadcastOperand(b, input, shape),
                  [&](Builder &inner, mlir::ValueRange v) { return poweredMagnitude(inner, v[0], p); });
  Value sum;
  if (global) {
    auto axes = llvm::to_vector(llvm::seq<int64_t>(2, shape.size()));
    sum =
        reshapeTo(b,
                  reduced(b, powers, axes, scalarConstant(b, accumulator, 0),
                          [](Builder &inner, mlir::ValueRange v) { return scalar::add(inner, v[0], v[1]); }),
                  reducedShape(shape, axes, /*keepDims=*/true));
  } else {
    mlir::FailureOr<Window> window = poolingWindow(node, shape);
    if (failed(window))
      return mlir::failure();
    sum = pooled(b, *window, powers, /*sum=*/true);
  }
  llvm::ArrayRef<int64_t> small = shapeOf(sum);
  Value norm = elementwise(b, small, accumulator, broadcastOperand(b, sum, small),
                           [&](Builder &inner, mlir::ValueRange v) { return root(inner, v[0], p); });
  node.setResult(0, floatCast(b, norm, element));
  return mlir::success();
}

constexpr OperatorEntry kOperators[] = {
    {"", "AveragePool", 7, 1, 1, buildAveragePool},
    {"", "GlobalAveragePool", 1, 1, 1, buildGlobalAveragePool},
    {"", "GlobalLpPool", 2, 1, 1, buildLpPool<true>},
    {"", "GlobalMaxPool", 1, 1, 1, buildGlobalMaxPool},
    {"", "LpPool", 2, 1, 1, buildLpPool<false>},
    {"", "MaxPool", 1, 1, 1, buildMaxPool},
};

} // namespace

llvm::ArrayRef<OperatorEntry> poolingOperators() { return kOperators; }

} // namespace autotune
