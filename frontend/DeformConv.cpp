// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DeformConv: the elements that each window reads, shifted by offsets, then one matrix product for each
// group.
#include "frontend/OperatorTable.h"
#include "frontend/Sampling.h"
#include "frontend/Scalar.h"
#include "frontend/Window.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace autotune {

namespace arith = mlir::arith;
using mlir::Value;

namespace {

struct DeformConv {
  int64_t groups, offsetGroups;
  Window window;
};

mlir::FailureOr<DeformConv> describe(NodeContext &node) {
  llvm::ArrayRef<int64_t> x = node.shape(0), weight = node.shape(1);
  if (x.size() != 4 || weight.size() != 4 || !isFloat(node.type(0)))
    return node.fail("X " + shapeText(x) + " with W " + shapeText(weight) + ": expected floats of rank 4");
  for (size_t i = 1; i < node.inputCount(); ++i)
    if (node.hasInput(i) && node.type(i) != node.type(0))
      return node.fail("input " + llvm::Twine(i) + " is " + spelling(node.type(i)) + ", X is " +
                       spelling(node.type(0)));
  DeformConv conv;
  conv.groups = node.intAttribute("group", 1);
  conv.offsetGroups = node.intAttribute("offset_group", 1);
  if (conv.groups < 1 || conv.offsetGroups < 1 || x[1] != weight[1] * conv.groups ||
      weight[0] % conv.groups != 0 || x[1] % conv.offsetGroups != 0 || elementCount(x) == 0)
    return node.fail("X " + shapeText(x) + " and W " + shapeText(weight) + " do not fit " +
                     llvm::Twine(conv.groups) + " groups and " + llvm::Twine(conv.offsetGroups) +
                     " offset groups");
  std::vector<int64_t> kernel = node.intsAttribute("kernel_shape", weight.drop_front(2));
  if (llvm::ArrayRef<int64_t>(kernel) != weight.drop_front(2))
    return node.fail("kernel_shape " + shapeText(kernel) + " is not that of W " + shapeText(weight));
  mlir::FailureOr<Window> window = windowOf(node, x.drop_front(2), weight.drop_front(2), /*ceilMode=*/false);
  if (failed(window))
    return mlir::failure();
  conv.window = *window;
  auto expect = [&](size_t index, llvm::ArrayRef<int64_t> shape) {
    if (!node.hasInput(index) || node.shape(index) == shape)
      return mlir::success();
    return node.fail("input " + llvm::Twine(index) + " of shape " + shapeText(node.shape(index)) +
                     ", expected " + shapeText(shape));
  };
  int64_t points = conv.offsetGroups * elementCount(window->kernel);
  int64_t height = window->output[0], width = window->output[1];
  if (failed(expect(2, {x[0], 2 * points, height, width})) || failed(expect(3, weight[0])) ||
      failed(expect(4, {x[0], points, height, width})))
    return mlir::failure();
  return conv;
}

/// [N, C, kh, kw, oh, ow]: what each window reads, times the mask.
Value columnsOf(NodeContext &node, const DeformConv &conv, mlir::Type type) {
  Builder &b = node.b;
  Shape x(node.shape(0));
  const Window &w = conv.window;
  int64_t channelsEach = x[1] / conv.offsetGroups;
  Shape shape = {x[0], x[1], w.kernel[0], w.kernel[1], w.output[0], w.output[1]};
  // [N, group, kh, kw, (y, x), oh, ow] and the same without the pair.
  Value offsets = reshapeTo(b, floatCast(b, node.input(2), type),
                            {x[0], conv.offsetGroups, w.kernel[0], w.kernel[1], 2, w.output[0], w.output[1]});
  Value mask;
  if (node.hasInput(4))
    mask = reshapeTo(b, floatCast(b, node.input(4), type),
                     {x[0], conv.offsetGroups, w.kernel[0], w.kernel[1], w.output[0], w.output[1]});
  Value image = node.input(0);
  return computedByIndex(b, shape, type, [&](Builder &inner, mlir::ValueRange i) -> Value {
    auto index = [&](int64_t value) -> Value { return inner.create<arith::ConstantIndexOp>(value); };
    Value group = inner.create<arith::DivUIOp>(i[1], index(channelsEach));
    llvm::SmallVector<sampling::Taps> taps;
    for (size_t d = 0; d < 2; ++d) {
      Value start = inner.create<arith::MulIOp>(i[4 + d], index(w.strides[d]));
      Value step = inner.create<arith::MulIOp>(i[2 + d], index(w.dilations[d]));
      Value regular =
          inner.create<arith::SubIOp>(inner.create<arith::AddIOp>(start, step), index(w.padLow[d]));
      Value at =
          inner.create<arith::SIToFPOp>(type, inner.create<arith::IndexCastOp>(inner.getI64Type(), regular));
      Value shift = inner.create<mlir::tensor::ExtractOp>(
          offsets, mlir::ValueRange{i[0], group, i[2], i[3], index(d), i[4], i[5]});
      taps.push_back(sampling::linear(inner, {x[2 + d]}, scalar::add(inner, at, shift)));
    }
    Value value = sampling::weightedSum(inner, image, {i[0], i[1]}, taps, type);
    if (!mask)
      return value;
    Value factor =
        inner.create<mlir::tensor::ExtractOp>(mask, mlir::ValueRange{i[0], group, i[2], i[3], i[4], i[5]});
    return scalar::mul(inner, value, factor);
  });
}

mlir::LogicalResult buildDeformConv(NodeContext &node) {
  mlir::FailureOr<DeformConv> conv = describe(node);
  if (failed(conv))
    return mlir::failure();
  Builder &b = node.b;
  mlir::Type element = node.elementType(0), type = accumulatorType(element);
  int64_t batch = node.shape(0)[0], groups = conv->groups, filters = node.shape(1)[0];
  int64_t positions = elementCount(conv->window.output);
  int64_t inner = elementCount(node.shape(1).drop_front());
  Value columns = reshapeTo(b, columnsOf(node, *conv, type), {batch * groups, inner, positions});
  Value weight = reshapeTo(b, floatCast(b, node.input(1), type), {groups, filters / groups, inner});
  Shape repeated = {batch, groups, filters / groups, inner};
  Value weights = elementwise(b, repeated, type, broadcastOperand(b, weight, repeated),
                              [](Builder &, mlir::ValueRange v) { return v[0]; });
  weights = reshapeTo(b, weights, {batch * groups, filters / groups, inner});
  Value init = zeroTensor(b, {batch * groups, filters / groups, positions}, type);
  Value product =
      b.create<mlir::linalg::BatchMatmulOp>(mlir::ValueRange{weights, columns}, mlir::ValueRange{init})
          .getResult(0);
  Shape shape = {batch, filters, conv->window.output[0], conv->window.output[1]};
  Value result = reshapeTo(b, product, shape);
  if (node.hasInput(3))
    result = elementwise(
        b, shape, type,
        {broadcastOperand(b, result, shape), alongAxis(b, floatCast(b, node.input(3), type), 1, 4)},
        [](Builder &body, mlir::ValueRange v) { return scalar::add(body, v[0], v[1]); });
  node.setResult(0, floatCast(b, result, element));
  return mlir::success();
}

constexpr OperatorEntry kOperators[] = {
    {"", "DeformConv", 19, 3, 5, buildDeformConv},
};

} // namespace

llvm::ArrayRef<OperatorEntry> deformableOperators() { return kOperators; }

} // namespace autotune
