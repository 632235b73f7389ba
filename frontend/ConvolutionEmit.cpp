// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses the linalg op: dense, depthwise, grouped; two or three dimensions, and one as two.
#include "frontend/ConvolutionEmit.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace autotune {

namespace linalg = mlir::linalg;
using mlir::Value;

static Shape concat(std::initializer_list<int64_t> leading, llvm::ArrayRef<int64_t> spatial) {
  Shape shape(leading);
  shape.append(spatial.begin(), spatial.end());
  return shape;
}

Shape ConvolutionSpec::weightShape() const { return concat({filters, channels / groups}, kernel); }
Shape ConvolutionSpec::outputShape() const { return concat({batch, filters}, output); }

namespace {

template <typename Op>
Value emit(Builder &b, const ConvolutionSpec &spec, Value input, Value weight, llvm::ArrayRef<int64_t> output) {
  Value init = zeroTensor(b, output, spec.accumulator);
  return b
      .create<Op>(mlir::TypeRange{init.getType()}, mlir::ValueRange{input, weight}, mlir::ValueRange{init},
                  b.getI64TensorAttr(spec.strides), b.getI64TensorAttr(spec.dilations))
      .getResult(0);
}

Value emitDense(Builder &b, const ConvolutionSpec &spec, Value input, Value weight) {
  switch (spec.rank()) {
  case 2:
    return emit<linalg::Conv2DNchwFchwOp>(b, spec, input, weight, spec.outputShape());
  default:
    return emit<linalg::Conv3DNcdhwFcdhwOp>(b, spec, input, weight, spec.outputShape());
  }
}

Value emitDepthwise(Builder &b, const ConvolutionSpec &spec, Value input, WeightInShape weightIn) {
  Value weight = weightIn(concat({spec.filters}, spec.kernel));
  switch (spec.rank()) {
  case 2:
    return emit<linalg::DepthwiseConv2DNchwChwOp>(b, spec, input, weight, spec.outputShape());
  default:
    return emit<linalg::DepthwiseConv3DNcdhwCdhwOp>(b, spec, input, weight, spec.outputShape());
  }
}

Value emitGrouped2D(Builder &b, const ConvolutionSpec &spec, Value input, WeightInShape weightIn) {
  int64_t channels = spec.channels / spec.groups, filters = spec.filters / spec.groups;
  Value grouped = reshapeTo(b, input, concat({spec.batch, spec.groups, channels}, shapeOf(input).drop_front(2)));
  Value weight = weightIn(concat({spec.groups, filters, channels}, spec.kernel));
  Value result = emit<linalg::Conv2DNgchwGfchwOp>(b, spec, grouped, weight,
                                                  concat({spec.batch, spec.groups, filters}, spec.output));
  return reshapeTo(b, result, spec.outputShape());
}

/// MLIR has no grouped convolution in three dimensions: one convolution for each group.
Value emitGroupedBySlices(Builder &b, const ConvolutionSpec &spec, Value input, WeightInShape weightIn) {
  ConvolutionSpec part = spec;
  part.channels /= spec.groups;
  part.filters /= spec.groups;
  part.groups = 1;
  Value weight = weightIn(spec.weightShape());
  Shape inputSize(shapeOf(input)), weightSize = part.weightShape();
  inputSize[1] = part.channels;
  Shape ones(inputSize.size(), 1), offset(inputSize.size(), 0), weightOffset(inputSize.size(), 0);
  llvm::SmallVector<Value> parts;
  for (int64_t group = 0; group < spec.groups; ++group) {
    offset[1] = group * part.channels;
    weightOffset[0] = group * part.filters;
    parts.push_back(emitDense(b, part, sliceOf(b, input, offset, inputSize, ones),
                              sliceOf(b, weight, weightOffset, weightSize, ones)));
  }
  return b.create<mlir::tensor::ConcatOp>(1, parts);
}

/// [N, C, W] as [N, C, 1, W]: sequences take the way of images, with its layouts and packed weights.
Value emitAsImage(Builder &b, const ConvolutionSpec &spec, Value input, WeightInShape weight) {
  ConvolutionSpec image = spec;
  for (Shape *extents : {&image.kernel, &image.strides, &image.dilations, &image.output})
    extents->insert(extents->begin(), 1);
  Shape shape(shapeOf(input));
  shape.insert(shape.begin() + 2, 1);
  return reshapeTo(b, emitConvolution(b, image, reshapeTo(b, input, shape), weight), spec.outputShape());
}

} // namespace

Value emitConvolution(Builder &b, const ConvolutionSpec &spec, Value input, WeightInShape weight) {
  if (spec.rank() == 1)
    return emitAsImage(b, spec, input, weight);
  if (spec.groups == 1)
    return emitDense(b, spec, input, weight(spec.weightShape()));
  if (spec.isDepthwise())
    return emitDepthwise(b, spec, input, weight);
  if (spec.rank() == 2)
    return emitGrouped2D(b, spec, input, weight);
  return emitGroupedBySlices(b, spec, input, weight);
}

} // namespace autotune
