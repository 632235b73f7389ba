// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conv in one, two and three dimensions, with a following BatchNormalization folded in.
#include "frontend/Convolution.h"

#include "frontend/Normalization.h"
#include "frontend/OperatorTable.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace autotune {

using mlir::Value;

mlir::FailureOr<Convolution> readConvolution(NodeContext &node, size_t input, size_t weight) {
  return readConvolution(node, node.shape(input), node.shape(weight));
}

mlir::FailureOr<Convolution> readConvolution(NodeContext &node, llvm::ArrayRef<int64_t> input,
                                             llvm::ArrayRef<int64_t> weight) {
  if (input.size() < 3 || input.size() > 5 || weight.size() != input.size())
    return node.fail("input " + shapeText(input) + " with weight " + shapeText(weight) +
                     ": expected both of rank 3, 4 or 5");
  Convolution conv;
  ConvolutionSpec &spec = conv.spec;
  spec.batch = input[0];
  spec.channels = input[1];
  spec.filters = weight[0];
  spec.groups = node.intAttribute("group", 1);
  if (spec.groups < 1 || spec.groups > spec.channels || spec.channels % spec.groups != 0 ||
      weight[1] != spec.channels / spec.groups || spec.filters < 1 || spec.filters % spec.groups != 0)
    return node.fail("input " + shapeText(input) + " and weight " + shapeText(weight) + " do not fit " +
                     llvm::Twine(spec.groups) + " groups");
  llvm::ArrayRef<int64_t> kernel = weight.drop_front(2);
  std::vector<int64_t> declared = node.intsAttribute("kernel_shape", kernel);
  if (llvm::ArrayRef<int64_t>(declared) != kernel)
    return node.fail("kernel_shape " + shapeText(declared) + " is not that of the weight " +
                     shapeText(weight));
  mlir::FailureOr<Window> window = windowOf(node, input.drop_front(2), kernel, /*ceilMode=*/false);
  if (failed(window))
    return mlir::failure();
  conv.window = *window;
  spec.kernel = window->kernel;
  spec.strides = window->strides;
  spec.dilations = window->dilations;
  spec.output = window->output;
  return conv;
}

namespace {

/// Weight and bias with a constant scale and shift for each filter applied.
struct Parameters {
  std::optional<ConstantTensor> weight; // absent: operand 1 as it is
  std::optional<ConstantTensor> bias;   // absent: operand 2, or none
};

Parameters foldBatchNorm(NodeContext &node, int64_t filters) {
  Parameters parameters;
  const ConstantTensor *weight = node.constant(1), *bias = node.constant(2);
  if (!weight || (node.hasInput(2) && !bias))
    return parameters;
  std::unique_ptr<NodeContext> norm = node.soleConsumer(0, "BatchNormalization");
  std::optional<ScaleShift> affine = norm ? constantScaleShift(*norm, filters) : std::nullopt;
  if (!affine || failed(node.spend(weight->size())))
    return parameters;
  ElementType type = node.type(0);
  unsigned width = byteSize(type);
  int64_t each = weight->size() / filters;
  std::vector<char> weights(weight->size() * width), biases(filters * width);
  for (int64_t filter = 0; filter < filters; ++filter) {
    for (int64_t i = filter * each, e = i + each; i < e; ++i)
      storeFloat(weights.data() + i * width, type, weight->floatAt(i) * affine->scale[filter]);
    double shift = affine->shift[filter] + (bias ? bias->floatAt(filter) * affine->scale[filter] : 0);
    storeFloat(biases.data() + filter * width, type, shift);
  }
  parameters.weight = ConstantTensor::own(type, weight->shape(), std::move(weights));
  parameters.bias = ConstantTensor::own(type, {filters}, std::move(biases));
  node.absorb(*norm);
  return parameters;
}

/// The weight in another shape: at import when it is known.
Value weightAs(NodeContext &node, const Parameters &parameters, llvm::ArrayRef<int64_t> shape) {
  const ConstantTensor *known = parameters.weight ? &*parameters.weight : node.constant(1);
  if (!known)
    return reshapeTo(node.b, node.input(1), shape);
  if (!parameters.weight && known->shape() == shape)
    return node.input(1);
  return node.materialize(known->reshaped(shape));
}

Value addBias(NodeContext &node, const Parameters &parameters, Value result) {
  const ConstantTensor *known = parameters.bias ? &*parameters.bias : node.constant(2);
  if (!known && !node.hasInput(2))
    return result;
  if (known && known->isSplat() && known->floatAt(0) == 0)
    return result;
  Value bias = parameters.bias ? node.materialize(*parameters.bias) : node.input(2);
  llvm::ArrayRef<int64_t> shape = shapeOf(result);
  return elementwise(
      node.b, shape, elementOf(result),
      {broadcastOperand(node.b, result, shape), alongAxis(node.b, bias, 1, shape.size())},
      [](Builder &b, mlir::ValueRange v) { return b.create<mlir::arith::AddFOp>(v[0], v[1]); });
}

/// Dimensions of [batch, …, channels] in the order [batch, channels, …], or back.
llvm::SmallVector<int64_t> channelOrder(int64_t rank, bool toFront) {
  auto axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::rotate(axes.begin() + 1, toFront ? axes.end() - 1 : axes.begin() + 2, axes.end());
  return axes;
}

} // namespace

mlir::FailureOr<Value> convolved(NodeContext &node, bool channelsLast) {
  if (!isFloat(node.type(0)) || node.type(1) != node.type(0))
    return node.fail("expected floats of one type, found " + spelling(node.type(0)) + " and " +
                     spelling(node.type(1)));
  Shape shape(node.shape(0));
  if (channelsLast && shape.size() > 2)
    std::rotate(shape.begin() + 1, shape.end() - 1, shape.end());
  mlir::FailureOr<Convolution> conv = readConvolution(node, shape, node.shape(1));
  if (failed(conv))
    return mlir::failure();
  int64_t filters = conv->spec.filters, rank = shape.size();
  if (node.hasInput(2) && (node.shape(2) != llvm::ArrayRef<int64_t>(filters) || node.type(2) != node.type(0)))
    return node.fail("bias is " + spelling(node.type(2)) + " of shape " + shapeText(node.shape(2)) +
                     ", expected " + llvm::Twine(filters) + " of " + spelling(node.type(0)));
  conv->spec.accumulator = accumulatorType(node.elementType(0));
  Parameters parameters = foldBatchNorm(node, filters);
  Value input = node.input(0);
  if (channelsLast)
    input = transposed(node.b, input, channelOrder(rank, /*toFront=*/true));
  input = padded(node.b, input, withLeadingZeros(conv->window.padLow), withLeadingZeros(conv->window.padHigh), 0);
  Value result = emitConvolution(node.b, conv->spec, input, [&](llvm::ArrayRef<int64_t> as) {
    return weightAs(node, parameters, as);
  });
  result = addBias(node, parameters, floatCast(node.b, result, node.elementType(0)));
  return channelsLast ? transposed(node.b, result, channelOrder(rank, /*toFront=*/false)) : result;
}

namespace {

mlir::LogicalResult buildConv(NodeContext &node) {
  mlir::FailureOr<Value> result = convolved(node);
  if (failed(result))
    return mlir::failure();
  node.setResult(0, *result);
  return mlir::success();
}

constexpr OperatorEntry kOperators[] = {
    {"", "Conv", 1, 2, 3, buildConv},
};

} // namespace

llvm::ArrayRef<OperatorEntry> convolutionOperators() { return kOperators; }

} // namespace autotune
