// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// com.microsoft's convolutions and matrix products with an activation, a residual or transpositions fused in.
#include "frontend/Convolution.h"
#include "frontend/MatMul.h"
#include "frontend/OperatorTable.h"
#include "frontend/RecurrentActivation.h"
#include "frontend/Scalar.h"

#include <limits>

namespace autotune {

using mlir::Value;

namespace {

/// The function that an attribute names, with its two parameters.
struct FusedActivation {
  RecurrentActivation function; // no name: none
  bool clips = false;           // to [alpha, beta]

  Value apply(Builder &b, Value x) const {
    if (!clips)
      return function.name.empty() ? x : function.apply(b, x);
    Value low = b.create<mlir::arith::MaximumFOp>(x, scalar::constantLike(b, x, function.alpha));
    return b.create<mlir::arith::MinimumFOp>(low, scalar::constantLike(b, x, function.beta));
  }
};

struct ActivationDefaults {
  llvm::StringLiteral name;
  double alpha, beta;
};

constexpr ActivationDefaults kActivations[] = {
    {"clip", -std::numeric_limits<float>::max(), std::numeric_limits<float>::max()},
    {"elu", 1, 0},
    {"hardsigmoid", 0.2f, 0.5},
    {"leakyrelu", 0.01f, 0},
    {"relu", 0, 0},
    {"sigmoid", 0, 0},
    {"softplus", 0, 0},
    {"softsign", 0, 0},
    {"tanh", 0, 0},
    {"thresholdedrelu", 1, 0},
};

/// Reads the attribute `activation`; `parameters` are alpha and beta, as far as they are given.
mlir::FailureOr<FusedActivation> readActivation(NodeContext &node, llvm::ArrayRef<float> parameters) {
  std::string name = node.stringAttribute("activation", ""), lower = llvm::StringRef(name).lower();
  FusedActivation activation;
  if (name.empty())
    return activation;
  const ActivationDefaults *known =
      llvm::find_if(kActivations, [&](const auto &a) { return a.name == lower; });
  if (known == std::end(kActivations))
    return node.fail("activation '" + name + "' is not known");
  activation.function = {lower, known->alpha, known->beta};
  activation.clips = lower == "clip";
  if (!parameters.empty())
    activation.function.alpha = parameters[0];
  if (parameters.size() > 1)
    activation.function.beta = parameters[1];
  return activation;
}

/// alpha and beta as attributes of their own.
std::vector<float> separateParameters(NodeContext &node) {
  std::vector<float> parameters;
  for (llvm::StringRef name : {"activation_alpha", "activation_beta"}) {
    if (!node.hasAttribute(name))
      break;
    parameters.push_back(static_cast<float>(node.floatAttribute(name, 0)));
  }
  return parameters;
}

/// activation(x + residual), in f32 for the half types; `residual` may be null.
Value activated(Builder &b, Value x, Value residual, const FusedActivation &activation, ElementType type) {
  if (!residual && activation.function.name.empty())
    return x;
  Shape shape(shapeOf(x));
  ElementType wide = accumulatorType(type);
  llvm::SmallVector<ElementwiseOperand> operands = {broadcastOperand(b, x, shape)};
  if (residual)
    operands.push_back(broadcastOperand(b, residual, shape));
  return elementwise(b, shape, elementOf(x), operands, [&](Builder &inner, mlir::ValueRange v) {
    Value sum = scalar::cast(inner, v[0], type, wide);
    if (residual)
      sum = scalar::add(inner, sum, scalar::cast(inner, v[1], type, wide));
    return scalar::cast(inner, activation.apply(inner, sum), wide, type);
  });
}

/// X, W, B, Z: activation(conv(X, W) + B + Z)
template <bool channelsLast> mlir::LogicalResult buildFusedConv(NodeContext &node) {
  mlir::FailureOr<FusedActivation> activation =
      readActivation(node, node.floatsAttribute("activation_params"));
  if (failed(activation))
    return mlir::failure();
  mlir::FailureOr<Value> result = convolved(node, channelsLast);
  if (failed(result))
    return mlir::failure();
  Value residual;
  if (node.hasInput(3)) {
    if (node.shape(3) != shapeOf(*result) || node.type(3) != node.type(0))
      return node.fail("Z is " + spelling(node.type(3)) + " of shape " + shapeText(node.shape(3)) +
                       ", expected " + spelling(node.type(0)) + " of shape " + shapeText(shapeOf(*result)));
    residual = node.input(3);
  }
  node.setResult(0, activated(node.b, *result, residual, *activation, node.type(0)));
  return mlir::success();
}

mlir::LogicalResult buildFusedGemm(NodeContext &node) {
  mlir::FailureOr<FusedActivation> activation = readActivation(node, separateParameters(node));
  if (failed(activation))
    return mlir::failure();
  mlir::FailureOr<Value> result = gemmProduct(node);
  if (failed(result))
    return mlir::failure();
  node.setResult(0, activated(node.b, *result, nullptr, *activation, node.type(0)));
  return mlir::success();
}

/// How an operand is permuted before it is multiplied: with `batch`, its first dimension is the row of the
/// matrix and the batch follows; with `matrix`, rows and columns are swapped after that.
llvm::SmallVector<int64_t> operandPermutation(int64_t rank, bool matrix, bool batch) {
  auto permutation = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (rank < 2)
    return permutation;
  if (batch)
    std::rotate(permutation.begin(), permutation.begin() + 1, permutation.end() - 1);
  if (matrix)
    std::swap(permutation[rank - 2], permutation[rank - 1]);
  return permutation;
}

Value permutedOperand(NodeContext &node, size_t index, llvm::ArrayRef<int64_t> permutation) {
  bool moves = !llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size()));
  const ConstantTensor *constant = node.constant(index);
  if (moves && constant)
    return node.materialize(constant->transposed(permutation));
  return transposed(node.b, node.input(index), permutation);
}

/// alpha * A * B with either side transposed, then an activation.
mlir::LogicalResult buildFusedMatMul(NodeContext &node) {
  if (!isFloat(node.type(0)) || node.type(1) != node.type(0))
    return node.fail("operands are " + spelling(node.type(0)) + " and " + spelling(node.type(1)) +
                     ", expected floats of one type");
  mlir::FailureOr<FusedActivation> activation = readActivation(node, separateParameters(node));
  double alpha = node.floatAttribute("alpha", 1);
  auto left =
      operandPermutation(node.rank(0), node.intAttribute("transA", 0), node.intAttribute("transBatchA", 0));
  auto right =
      operandPermutation(node.rank(1), node.intAttribute("transB", 0), node.intAttribute("transBatchB", 0));
  if (failed(activation) || node.failedAlready())
    return mlir::failure();
  ElementType type = node.type(0), wide = accumulatorType(type);
  mlir::FailureOr<Value> product = matrixProduct(node, permutedOperand(node, 0, left),
                                                 permutedOperand(node, 1, right), node.mlirType(wide));
  if (failed(product))
    return mlir::failure();
  Shape shape(shapeOf(*product));
  if (alpha == 1 && activation->function.name.empty()) {
    node.setResult(0, floatCast(node.b, *product, node.elementType(0)));
    return mlir::success();
  }
  node.setResult(0, elementwise(node.b, shape, node.elementType(0), broadcastOperand(node.b, *product, shape),
                                [&](Builder &b, mlir::ValueRange v) {
                                  Value scaled = scalar::mul(b, v[0], scalar::constantLike(b, v[0], alpha));
                                  return scalar::cast(b, activation->apply(b, scaled), wide, type);
                                }));
  return mlir::success();
}

/// X + bias (one for each channel) + skip
mlir::LogicalResult buildBiasAdd(NodeContext &node) {
  Shape shape(node.shape(0));
  ElementType type = node.type(0), wide = accumulatorType(type);
  bool fits = !shape.empty() && isFloat(type) && node.shape(1) == llvm::ArrayRef<int64_t>(shape.back()) &&
              node.shape(2) == llvm::ArrayRef<int64_t>(shape) && node.type(1) == type && node.type(2) == type;
  if (!fits)
    return node.fail("bias of shape " + shapeText(node.shape(1)) + " and skip of shape " +
                     shapeText(node.shape(2)) + " do not fit " + shapeText(shape) + " of " + spelling(type));
  node.setResult(0, elementwise(node.b, shape, node.elementType(0),
                                {broadcastOperand(node, 0, shape), broadcastOperand(node, 1, shape),
                                 broadcastOperand(node, 2, shape)},
                                [&](Builder &b, mlir::ValueRange v) {
                                  Value sum = scalar::add(b, scalar::cast(b, v[0], type, wide),
                                                          scalar::cast(b, v[1], type, wide));
                                  sum = scalar::add(b, sum, scalar::cast(b, v[2], type, wide));
                                  return scalar::cast(b, sum, wide, type);
                                }));
  return mlir::success();
}

constexpr OperatorEntry kOperators[] = {
    {"com.microsoft", "BiasAdd", 1, 3, 3, buildBiasAdd},
    {"com.microsoft", "FusedConv", 1, 2, 4, buildFusedConv<false>},
    {"com.microsoft", "FusedGemm", 1, 2, 3, buildFusedGemm},
    {"com.microsoft", "FusedMatMul", 1, 2, 2, buildFusedMatMul},
    {"com.microsoft", "FusedMatMulActivation", 1, 2, 2, buildFusedMatMul},
    {"com.microsoft", "NhwcConv", 1, 2, 3, buildFusedConv<true>},
    {"com.microsoft", "NhwcFusedConv", 1, 2, 4, buildFusedConv<true>},
    {"com.microsoft", "TransposeMatMul", 1, 2, 2, buildFusedMatMul},
};

} // namespace

llvm::ArrayRef<OperatorEntry> fusedOperators() { return kOperators; }

} // namespace autotune
