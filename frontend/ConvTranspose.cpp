// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ConvTranspose as an ordinary convolution: of the input spread out by the strides, or, where the windows do not
// overlap, with 1x1 windows whose results are put side by side.
#include "frontend/ConvolutionEmit.h"
#include "frontend/OperatorTable.h"
#include "frontend/Window.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace autotune {

using mlir::Value;

namespace {

struct Transposed {
  int64_t batch, channels, filters, groups;
  Shape input, kernel, strides, dilations, padLow, padHigh, outputPadding, output;

  int64_t extent(size_t i) const { return (kernel[i] - 1) * dilations[i] + 1; }
  /// Every output element belongs to one window.
  bool isDisjoint() const {
    for (size_t i = 0; i < kernel.size(); ++i)
      if (kernel[i] != strides[i] || dilations[i] != 1 || padLow[i] || padHigh[i] || outputPadding[i])
        return false;
    return groups == 1;
  }
};

mlir::LogicalResult readPads(NodeContext &node, Transposed &conv) {
  size_t rank = conv.kernel.size();
  llvm::SmallVector<int64_t> zeros(2 * rank, 0);
  std::vector<int64_t> pads = node.intsAttribute("pads", zeros);
  std::vector<int64_t> wanted = node.intsAttribute("output_shape");
  std::string mode = node.stringAttribute("auto_pad", "NOTSET");
  if (pads.size() != 2 * rank || (!wanted.empty() && wanted.size() < rank))
    return node.fail("pads or output_shape do not have one value for each dimension");
  bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  for (size_t i = 0; i < rank; ++i) {
    int64_t full = (conv.input[i] - 1) * conv.strides[i] + conv.extent(i) + conv.outputPadding[i];
    int64_t low = mode == "VALID" ? 0 : pads[i], high = mode == "VALID" ? 0 : pads[rank + i];
    if (!wanted.empty() || same) {
      // The output size is given, and the padding follows; without `pads` it is split in two.
      int64_t size = wanted.empty() ? conv.input[i] * conv.strides[i] : wanted[wanted.size() - rank + i];
      int64_t total = std::max<int64_t>(full - size, 0);
      low = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
      high = total - low;
      // Larger than all windows reach: the rest is added at the end.
      conv.outputPadding[i] += std::max<int64_t>(size - full, 0);
      full = std::max(full, size);
    }
    conv.padLow.push_back(low);
    conv.padHigh.push_back(high);
    conv.output.push_back(full - low - high);
    if (low < 0 || high < 0 || conv.output.back() <= 0)
      return node.fail("pads leave no output in dimension " + llvm::Twine(i));
  }
  return mlir::success();
}

mlir::FailureOr<Transposed> describe(NodeContext &node) {
  llvm::ArrayRef<int64_t> input = node.shape(0), weight = node.shape(1);
  if (!isFloat(node.type(0)) || node.type(1) != node.type(0) || input.size() < 3 || input.size() > 5 ||
      weight.size() != input.size())
    return node.fail("input " + shapeText(input) + " with weight " + shapeText(weight) +
                     ": expected floats of rank 3, 4 or 5");
  Transposed conv;
  conv.groups = node.intAttribute("group", 1);
  conv.batch = input[0];
  conv.channels = input[1];
  if (conv.groups < 1 || conv.groups > conv.channels || weight[0] != conv.channels || conv.channels % conv.groups != 0)
    return node.fail("input " + shapeText(input) + " and weight " + shapeText(weight) + " do not fit " +
                     llvm::Twine(conv.groups) + " groups");
  conv.filters = weight[1] * conv.groups;
  conv.input.assign(input.begin() + 2, input.end());
  conv.kernel.assign(weight.begin() + 2, weight.end());
  size_t rank = conv.kernel.size();
  llvm::SmallVector<int64_t> ones(rank, 1), zeros(rank, 0);
  auto read = [&](llvm::StringRef name, llvm::ArrayRef<int64_t> fallback, int64_t least, Shape &target) {
    std::vector<int64_t> values = node.intsAttribute(name, fallback);
    bool valid = values.size() == rank &&
                 llvm::all_of(values, [&](int64_t v) { return v >= least && v <= 1 << 24; });
    target.assign(values.begin(), values.end());
    return valid ? mlir::success() : node.fail("attribute '" + name + "' is not valid");
  };
  if (failed(read("strides", ones, 1, conv.strides)) || failed(read("dilations", ones, 1, conv.dilations)) ||
      failed(read("output_padding", zeros, 0, conv.outputPadding)) || failed(readPads(node, conv)))
    return mlir::failure();
  Shape shape = {conv.batch, conv.filters};
  shape.append(conv.output.begin(), conv.output.end());
  if (!checkedByteCount(shape, node.type(0)))
    return node.fail("the result " + shapeText(shape) + " is too large");
  return conv;
}

Value reversed(Builder &b, Value tensor, size_t firstAxis) {
  Shape shape(shapeOf(tensor));
  return computedByIndex(b, shape, elementOf(tensor), [&](Builder &inner, mlir::ValueRange indices) -> Value {
    llvm::SmallVector<Value> at(indices.begin(), indices.end());
    for (size_t axis = firstAxis; axis < at.size(); ++axis) {
      Value last = inner.create<mlir::arith::ConstantIndexOp>(shape[axis] - 1);
      at[axis] = inner.create<mlir::arith::SubIOp>(last, at[axis]);
    }
    return inner.create<mlir::tensor::ExtractOp>(tensor, at);
  });
}

/// [C, M/g, k…] becomes [M, C/g, k… reversed]: the weight of the equivalent convolution.
Value turnedWeight(NodeContext &node, const Transposed &conv) {
  int64_t channels = conv.channels / conv.groups, filters = conv.filters / conv.groups;
  Shape split = {conv.groups, channels, filters}, joined = {conv.filters, channels};
  split.append(conv.kernel.begin(), conv.kernel.end());
  joined.append(conv.kernel.begin(), conv.kernel.end());
  llvm::SmallVector<int64_t> swap = {0, 2, 1};
  for (size_t i = 3; i < split.size(); ++i)
    swap.push_back(i);
  if (const ConstantTensor *weight = node.constant(1)) {
    ConstantTensor turned = weight->reshaped(split).transposed(swap).reshaped(joined);
    Shape offset(joined.size(), 0), step(joined.size(), 1);
    for (size_t axis = 2; axis < joined.size(); ++axis) {
      offset[axis] = joined[axis] - 1;
      step[axis] = -1;
    }
    return node.materialize(turned.sliced(offset, joined, step));
  }
  Builder &b = node.b;
  Value moved = transposed(b, reshapeTo(b, node.input(1), split), swap);
  return reversed(b, reshapeTo(b, moved, joined), 2);
}

/// Puts stride - 1 zeros behind each element of the spatial dimensions.
Value spreadOut(Builder &b, Value input, llvm::ArrayRef<int64_t> strides) {
  llvm::ArrayRef<int64_t> shape = shapeOf(input);
  Shape split(shape.take_front(2)), low(2, 0), high(2, 0), joined(shape.take_front(2));
  for (auto [dim, stride] : llvm::zip_equal(shape.drop_front(2), strides)) {
    split.push_back(dim);
    low.push_back(0);
    high.push_back(0);
    joined.push_back(dim * stride);
    if (stride == 1)
      continue;
    split.push_back(1);
    low.push_back(0);
    high.push_back(stride - 1);
  }
  return reshapeTo(b, padded(b, reshapeTo(b, input, split), low, high, 0), joined);
}

Value emitSpread(NodeContext &node, const Transposed &conv) {
  Builder &b = node.b;
  ConvolutionSpec spec;
  spec.kernel = conv.kernel;
  spec.strides.assign(conv.kernel.size(), 1);
  spec.dilations = conv.dilations;
  spec.output = conv.output;
  spec.batch = conv.batch;
  spec.channels = conv.channels;
  spec.filters = conv.filters;
  spec.groups = conv.groups;
  spec.accumulator = accumulatorType(node.elementType(0));
  Value input = spreadOut(b, node.input(0), conv.strides);
  // Positive: zeros to add; negative: elements to cut off.
  Shape low(2, 0), high(2, 0), offset(2, 0), size(shapeOf(input));
  for (size_t i = 0; i < conv.kernel.size(); ++i) {
    int64_t before = conv.extent(i) - 1 - conv.padLow[i];
    int64_t needed = conv.output[i] + conv.extent(i) - 1;
    int64_t after = needed - size[2 + i] - before;
    offset.push_back(std::max<int64_t>(-before, 0));
    size[2 + i] += std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0);
    low.push_back(std::max<int64_t>(before, 0));
    high.push_back(std::max<int64_t>(after, 0));
  }
  input = sliceOf(b, input, offset, size, Shape(size.size(), 1));
  input = padded(b, input, low, high, 0);
  Value weight = turnedWeight(node, conv);
  return emitConvolution(b, spec, input, [&](llvm::ArrayRef<int64_t> shape) { return reshapeTo(b, weight, shape); });
}

/// Windows side by side: filters times kernel positions as filters of a 1x1 convolution, then moved into place.
Value emitDisjoint(NodeContext &node, const Transposed &conv) {
  Builder &b = node.b;
  size_t rank = conv.kernel.size();
  int64_t positions = elementCount(conv.kernel);
  ConvolutionSpec spec;
  spec.kernel.assign(rank, 1);
  spec.strides = spec.dilations = spec.kernel;
  spec.output = conv.input;
  spec.batch = conv.batch;
  spec.channels = conv.channels;
  spec.filters = conv.filters * positions;
  spec.accumulator = accumulatorType(node.elementType(0));
  // [C, M, k…] as a matrix [C, M k…], transposed to [M k…, C].
  Value weight;
  if (const ConstantTensor *constant = node.constant(1))
    weight = node.materialize(constant->reshaped({conv.channels, spec.filters}).transposed({1, 0}).reshaped(spec.weightShape()));
  else
    weight = reshapeTo(b, transposed(b, reshapeTo(b, node.input(1), {conv.channels, spec.filters}), {1, 0}),
                       spec.weightShape());
  Value result = emitConvolution(b, spec, node.input(0), [&](llvm::ArrayRef<int64_t>) { return weight; });
  // [N, M, k…, in…] to [N, M, in0, k0, in1, k1, …]
  Shape split = {conv.batch, conv.filters}, joined = split;
  split.append(conv.kernel.begin(), conv.kernel.end());
  split.append(conv.input.begin(), conv.input.end());
  llvm::SmallVector<int64_t> order = {0, 1};
  for (size_t i = 0; i < rank; ++i) {
    order.push_back(2 + rank + i);
    order.push_back(2 + i);
  }
  joined.append(conv.output.begin(), conv.output.end());
  return reshapeTo(b, transposed(b, reshapeTo(b, result, split), order), joined);
}

mlir::LogicalResult buildConvTranspose(NodeContext &node) {
  mlir::FailureOr<Transposed> conv = describe(node);
  if (failed(conv))
    return mlir::failure();
  if (node.hasInput(2) && node.shape(2) != llvm::ArrayRef<int64_t>(conv->filters))
    return node.fail("bias of shape " + shapeText(node.shape(2)) + ", expected " + llvm::Twine(conv->filters));
  Builder &b = node.b;
  Value result = conv->isDisjoint() ? emitDisjoint(node, *conv) : emitSpread(node, *conv);
  result = floatCast(b, result, node.elementType(0));
  if (node.hasInput(2)) {
    llvm::ArrayRef<int64_t> shape = shapeOf(result);
    result = elementwise(b, shape, elementOf(result),
                         {broadcastOperand(b, result, shape), alongAxis(b, node.input(2), 1, shape.size())},
                         [](Builder &inner, mlir::ValueRange v) -> Value {
                           return inner.create<mlir::arith::AddFOp>(v[0], v[1]);
                         });
  }
  node.setResult(0, result);
  return mlir::success();
}

constexpr OperatorEntry kOperators[] = {
    {"", "ConvTranspose", 1, 2, 3, buildConvTranspose},
};

} // namespace

llvm::ArrayRef<OperatorEntry> transposedConvolutionOperators() { return kOperators; }

} // namespace autotune
