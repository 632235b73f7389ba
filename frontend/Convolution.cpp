// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conv in one, two and three dimensions, with a following BatchNormalization folded in.
#include "frontend/Emit.h"
#include "frontend/Normalization.h"
#include "frontend/OperatorTable.h"
#include "frontend/Window.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace autotune {

using mlir::Value;

namespace {

struct Convolution {
  Window window;
  int64_t batch, channels, filters, groups;
  mlir::Type accumulator;

  int64_t rank() const { return window.kernel.size(); }
  bool depthwise() const { return groups == channels && groups == filters && groups > 1; }
};

mlir::FailureOr<Convolution> describe(NodeContext &node) {
  if (!isFloat(node.type(0)) || node.type(1) != node.type(0))
    return node.fail("expected floats of one type, found " + spelling(node.type(0)) + " and " +
                     spelling(node.type(1)));
  llvm::ArrayRef<int64_t> input = node.shape(0), weight = node.shape(1);
  if (input.size() < 3 || input.size() > 5 || weight.size() != input.size())
    return node.fail("input " + shapeText(input) + " with weight " + shapeText(weight) +
                     ": expected both of rank 3, 4 or 5");
  Convolution conv;
  conv.batch = input[0];
  conv.channels = input[1];
  conv.filters = weight[0];
  conv.groups = node.intAttribute("group", 1);
  if (conv.groups < 1 || conv.channels != weight[1] * conv.groups || conv.filters % conv.groups != 0)
    return node.fail("input " + shapeText(input) + " and weight " + shapeText(weight) + " do not fit " +
                     llvm::Twine(conv.groups) + " groups");
  llvm::ArrayRef<int64_t> kernel = weight.drop_front(2);
  std::vector<int64_t> declared = node.intsAttribute("kernel_shape", kernel);
  if (llvm::ArrayRef<int64_t>(declared) != kernel)
    return node.fail("kernel_shape " + shapeText(declared) + " is not that of the weight " + shapeText(weight));
  if (node.hasInput(2) && node.shape(2) != llvm::ArrayRef<int64_t>(conv.filters))
    return node.fail("bias " + shapeText(node.shape(2)) + ", expected " + llvm::Twine(conv.filters) + " values");
  mlir::FailureOr<Window> window = windowOf(node, input.drop_front(2), kernel, /*ceilMode=*/false);
  if (failed(window))
    return mlir::failure();
  conv.window = *window;
  conv.accumulator = accumulatorType(node.elementType(0));
  return conv;
}

/// Weight and bias with a constant scale and shift for each filter applied.
struct Parameters {
  std::optional<ConstantTensor> weight;  // absent: operand 1 as it is
  std::optional<ConstantTensor> bias;    // absent: operand 2, or none
};

Parameters foldBatchNorm(NodeContext &node, const Convolution &conv) {
  Parameters parameters;
  const ConstantTensor *weight = node.constant(1), *bias = node.constant(2);
  if (!weight || (node.hasInput(2) && !bias))
    return parameters;
  std::unique_ptr<NodeContext> norm = node.soleConsumer(0, "BatchNormalization");
  std::optional<ScaleShift> affine = norm ? constantScaleShift(*norm, conv.filters) : std::nullopt;
  if (!affine)
    return parameters;
  ElementType type = node.type(0);
  int64_t each = weight->size() / conv.filters;
  std::vector<char> weights(weight->size() * byteSize(type)), biases(conv.filters * byteSize(type));
  for (int64_t filter = 0; filter < conv.filters; ++filter) {
    for (int64_t i = filter * each, e = i + each; i < e; ++i)
      storeFloat(weights.data() + i * byteSize(type), type, weight->floatAt(i) * affine->scale[filter]);
    double shift = affine->shift[filter] + (bias ? bias->floatAt(filter) * affine->scale[filter] : 0);
    storeFloat(biases.data() + filter * byteSize(type), type, shift);
  }
  parameters.weight = ConstantTensor::own(type, weight->shape(), std::move(weights));
  parameters.bias = ConstantTensor::own(type, {conv.filters}, std::move(biases));
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

mlir::DenseIntElementsAttr vectorAttribute(Builder &b, llvm::ArrayRef<int64_t> values) {
  return b.getI64TensorAttr(values);
}

template <typename Op> Value emit(Builder &b, const Convolution &conv, Value input, Value weight, Shape output) {
  Value init = zeroTensor(b, output, conv.accumulator);
  return b
      .create<Op>(mlir::TypeRange{init.getType()}, mlir::ValueRange{input, weight}, mlir::ValueRange{init},
                  vectorAttribute(b, conv.window.strides), vectorAttribute(b, conv.window.dilations))
      .getResult(0);
}

Shape concat(std::initializer_list<int64_t> leading, llvm::ArrayRef<int64_t> spatial) {
  Shape shape(leading);
  shape.append(spatial.begin(), spatial.end());
  return shape;
}

Value emitDense(Builder &b, const Convolution &conv, Value input, Value weight, int64_t filters) {
  Shape output = concat({conv.batch, filters}, conv.window.output);
  switch (conv.rank()) {
  case 1:
    return emit<mlir::linalg::Conv1DNcwFcwOp>(b, conv, input, weight, output);
  case 2:
    return emit<mlir::linalg::Conv2DNchwFchwOp>(b, conv, input, weight, output);
  default:
    return emit<mlir::linalg::Conv3DNcdhwFcdhwOp>(b, conv, input, weight, output);
  }
}

Value emitDepthwise(NodeContext &node, const Parameters &parameters, const Convolution &conv, Value input) {
  Value weight = weightAs(node, parameters, concat({conv.filters}, conv.window.kernel));
  Shape output = concat({conv.batch, conv.filters}, conv.window.output);
  switch (conv.rank()) {
  case 1:
    return emit<mlir::linalg::DepthwiseConv1DNcwCwOp>(node.b, conv, input, weight, output);
  case 2:
    return emit<mlir::linalg::DepthwiseConv2DNchwChwOp>(node.b, conv, input, weight, output);
  default:
    return emit<mlir::linalg::DepthwiseConv3DNcdhwCdhwOp>(node.b, conv, input, weight, output);
  }
}

Value emitGrouped2D(NodeContext &node, const Parameters &parameters, const Convolution &conv, Value input) {
  int64_t channels = conv.channels / conv.groups, filters = conv.filters / conv.groups;
  Value grouped = reshapeTo(node.b, input, concat({conv.batch, conv.groups, channels}, shapeOf(input).drop_front(2)));
  Value weight = weightAs(node, parameters, concat({conv.groups, filters, channels}, conv.window.kernel));
  Value result = emit<mlir::linalg::Conv2DNgchwGfchwOp>(
      node.b, conv, grouped, weight, concat({conv.batch, conv.groups, filters}, conv.window.output));
  return reshapeTo(node.b, result, concat({conv.batch, conv.filters}, conv.window.output));
}

/// MLIR has no grouped convolution in one and three dimensions: one convolution for each group.
Value emitGroupedBySlices(NodeContext &node, const Parameters &parameters, const Convolution &conv, Value input) {
  int64_t channels = conv.channels / conv.groups, filters = conv.filters / conv.groups;
  Value weight = weightAs(node, parameters, node.shape(1));
  Shape inputSize(shapeOf(input)), weightSize(node.shape(1));
  inputSize[1] = channels;
  weightSize[0] = filters;
  Shape ones(inputSize.size(), 1), offset(inputSize.size(), 0), weightOffset(inputSize.size(), 0);
  llvm::SmallVector<Value> parts;
  for (int64_t group = 0; group < conv.groups; ++group) {
    offset[1] = group * channels;
    weightOffset[0] = group * filters;
    parts.push_back(emitDense(node.b, conv, sliceOf(node.b, input, offset, inputSize, ones),
                              sliceOf(node.b, weight, weightOffset, weightSize, ones), filters));
  }
  return node.b.create<mlir::tensor::ConcatOp>(1, parts);
}

Value addBias(NodeContext &node, const Parameters &parameters, Value result) {
  const ConstantTensor *known = parameters.bias ? &*parameters.bias : node.constant(2);
  if (!known && !node.hasInput(2))
    return result;
  if (known && known->isSplat() && known->floatAt(0) == 0)
    return result;
  Value bias = parameters.bias ? node.materialize(*parameters.bias) : node.input(2);
  llvm::ArrayRef<int64_t> shape = shapeOf(result);
  return elementwise(node.b, shape, elementOf(result),
                     {broadcastOperand(node.b, result, shape), alongAxis(node.b, bias, 1, shape.size())},
                     [](Builder &b, mlir::ValueRange v) { return b.create<mlir::arith::AddFOp>(v[0], v[1]); });
}

mlir::LogicalResult buildConv(NodeContext &node) {
  mlir::FailureOr<Convolution> conv = describe(node);
  if (failed(conv))
    return mlir::failure();
  Parameters parameters = foldBatchNorm(node, *conv);
  Value input = padded(node.b, node.input(0), withLeadingZeros(conv->window.padLow),
                       withLeadingZeros(conv->window.padHigh), 0);
  Value result;
  if (conv->groups == 1)
    result = emitDense(node.b, *conv, input, weightAs(node, parameters, node.shape(1)), conv->filters);
  else if (conv->depthwise())
    result = emitDepthwise(node, parameters, *conv, input);
  else if (conv->rank() == 2)
    result = emitGrouped2D(node, parameters, *conv, input);
  else
    result = emitGroupedBySlices(node, parameters, *conv, input);
  node.setResult(0, addBias(node, parameters, floatCast(node.b, result, node.elementType(0))));
  return mlir::success();
}

constexpr OperatorEntry kOperators[] = {
    {"", "Conv", 1, 2, 3, buildConv},
};

} // namespace

llvm::ArrayRef<OperatorEntry> convolutionOperators() { return kOperators; }

} // namespace autotune
