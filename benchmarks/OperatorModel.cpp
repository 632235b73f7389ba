// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "benchmarks/OperatorModel.h"

#include "dialect/AutotuneDialect.h"
#include "frontend/ConvolutionEmit.h"
#include "frontend/Pooling.h"
#include "frontend/Scalar.h"
#include "passes/Decompose.h"
#include "passes/SimplifyModel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <limits>

namespace autotune::benchmarks {
namespace {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
using mlir::Value;

Value constant(Builder &b, const Sizes &shape, const std::vector<float> &values) {
  auto type = mlir::RankedTensorType::get(shape, b.getF32Type());
  return b.create<arith::ConstantOp>(mlir::DenseElementsAttr::get(type, llvm::ArrayRef(values)));
}

Value clamped(Builder &b, Value x, double low, double high) {
  Value floor = b.create<arith::MaximumFOp>(x, scalar::constantLike(b, x, low));
  return b.create<arith::MinimumFOp>(floor, scalar::constantLike(b, x, high));
}

Value activated(Builder &b, Value x, Tail tail) {
  switch (tail) {
  case Tail::None:
  case Tail::Bias:
    return x;
  case Tail::Relu:
    return b.create<arith::MaximumFOp>(x, scalar::constantLike(b, x, 0));
  case Tail::Relu6:
    return clamped(b, x, 0, 6);
  case Tail::HardSwish: {
    Value shifted = scalar::add(b, x, scalar::constantLike(b, x, 3));
    Value gate = scalar::mul(b, clamped(b, shifted, 0, 6), scalar::constantLike(b, x, 1.0 / 6));
    return scalar::mul(b, x, gate);
  }
  case Tail::Gelu:
    return scalar::gelu(b, x);
  }
  llvm_unreachable("unknown tail");
}

/// The bias is the last constant, one for each position of `axis`.
Value withTail(Builder &b, Value value, Tail tail, int64_t axis, const OperatorData &data) {
  if (tail == Tail::None)
    return value;
  Shape shape(shapeOf(value));
  Value bias = constant(b, {shape[axis]}, data.constants.back());
  return elementwise(b, shape, b.getF32Type(),
                     {broadcastOperand(b, value, shape), alongAxis(b, bias, axis, int64_t(shape.size()))},
                     [&](Builder &inner, mlir::ValueRange v) {
                       return activated(inner, scalar::add(inner, v[0], v[1]), tail);
                     });
}

class OperatorEmitter {
public:
  OperatorEmitter(Builder &b, mlir::ValueRange inputs, const OperatorData &data)
      : b(b), inputs(inputs), data(data) {}

  Value operator()(const Gemm &gemm) {
    Value right = gemm.constantRight ? constant(b, constantShapes(gemm)[0], data.constants[0]) : inputs[1];
    Value init = zeroTensor(b, outputShape(gemm), b.getF32Type());
    llvm::SmallVector<Value> operands = {inputs[0], right};
    Value product = gemm.batch == 1
                        ? b.create<linalg::MatmulOp>(operands, mlir::ValueRange{init}).getResult(0)
                        : b.create<linalg::BatchMatmulOp>(operands, mlir::ValueRange{init}).getResult(0);
    return withTail(b, product, gemm.tail, gemm.batch == 1 ? 1 : 2, data);
  }

  Value operator()(const Convolution &conv) {
    ConvolutionSpec spec;
    spec.kernel = {conv.kernel[0], conv.kernel[1]};
    spec.strides = {conv.stride[0], conv.stride[1]};
    spec.dilations = {1, 1};
    spec.output = {conv.outputHeight(), conv.outputWidth()};
    spec.channels = conv.channels;
    spec.filters = conv.filters;
    spec.groups = conv.depthwise ? conv.channels : 1;
    spec.accumulator = b.getF32Type();
    Shape padding = {0, 0, conv.padding[0], conv.padding[1]};
    auto weight = [&](llvm::ArrayRef<int64_t> shape) { return constant(b, shape.vec(), data.constants[0]); };
    Value result = emitConvolution(b, spec, padded(b, inputs[0], padding, padding, 0), weight);
    return withTail(b, result, conv.tail, 1, data);
  }

  Value operator()(const Pooling &pool) {
    if (pool.function == Pooling::Function::GlobalAverage)
      return globalAverage(b, inputs[0]);
    constexpr double kLeast = -std::numeric_limits<double>::infinity();
    mlir::Type element = b.getF32Type();
    Shape padding = {0, 0, pool.padding, pool.padding};
    Value input = padded(b, inputs[0], padding, padding, kLeast);
    Value window = emptyTensor(b, {pool.kernel, pool.kernel}, element);
    Value init = filledTensor(b, outputShape(pool), scalarConstant(b, element, kLeast));
    return b
        .create<linalg::PoolingNchwMaxOp>(
            mlir::TypeRange{init.getType()}, mlir::ValueRange{input, window}, mlir::ValueRange{init},
            b.getI64TensorAttr({pool.stride, pool.stride}), b.getI64TensorAttr({1, 1}))
        .getResult(0);
  }

  Value operator()(const RowWise &rowWise) {
    Value x = inputs[0];
    if (rowWise.function == RowWise::Function::Softmax) {
      Value init = emptyTensor(b, shapeOf(x), b.getF32Type());
      return b.create<linalg::SoftmaxOp>(mlir::TypeRange{x.getType()}, x, init, 1).getResult()[0];
    }
    Value scale = constant(b, {rowWise.columns}, data.constants[0]);
    Value bias = constant(b, {rowWise.columns}, data.constants[1]);
    return b.create<LayerNormOp>(x.getType(), x, scale, bias, b.getDenseI64ArrayAttr({1}),
                                 b.getF64FloatAttr(kLayerNormEpsilon), /*rms=*/mlir::UnitAttr());
  }

  Value operator()(const Elementwise &op) {
    llvm::SmallVector<ElementwiseOperand> operands;
    for (Value input : inputs)
      operands.push_back(broadcastOperand(b, input, op.shape));
    return elementwise(b, op.shape, b.getF32Type(), operands, [&](Builder &inner, mlir::ValueRange v) {
      return op.function == Elementwise::Function::Add ? scalar::add(inner, v[0], v[1])
                                                       : scalar::gelu(inner, v[0]);
    });
  }

private:
  Builder &b;
  mlir::ValueRange inputs;
  const OperatorData &data;
};

} // namespace

mlir::OwningOpRef<mlir::ModuleOp> buildModel(mlir::MLIRContext &context, const std::vector<Layer> &layers) {
  Builder b(mlir::UnknownLoc::get(&context), &context);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(b.getLoc());
  b.setInsertionPointToStart(module->getBody());
  auto main = b.create<mlir::func::FuncOp>("main", b.getFunctionType({}, {}));
  mlir::Block *body = main.addEntryBlock();
  b.setInsertionPointToStart(body);
  Value result;
  for (const Layer &layer : layers) {
    llvm::SmallVector<Value> inputs;
    for (const Sizes &shape : inputShapes(layer.op))
      inputs.push_back(
          result && inputs.empty()
              ? result
              : body->addArgument(mlir::RankedTensorType::get(shape, b.getF32Type()), b.getLoc()));
    result = std::visit(OperatorEmitter(b, inputs, layer.data), layer.op);
  }
  b.create<mlir::func::ReturnOp>(result);
  main.setType(b.getFunctionType(body->getArgumentTypes(), result.getType()));
  if (failed(decomposeIdeas(main)) || failed(simplifyModel(main)))
    return {};
  return module;
}

} // namespace autotune::benchmarks
