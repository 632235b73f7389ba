// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One step of an optimiser: Adagrad, Adam and Momentum of ai.onnx.preview.training.
#include "frontend/OperatorTable.h"
#include "frontend/Scalar.h"

namespace autotune {

namespace arith = mlir::arith;
namespace math = mlir::math;
using mlir::Value;
using scalar::constantLike;

namespace {

/// R (the rate) and T (the count of updates) are scalars; then come `kinds` lists of tensors of equal length.
mlir::FailureOr<int64_t> tensorCount(NodeContext &node, int64_t kinds) {
  int64_t rest = static_cast<int64_t>(node.inputCount()) - 2, count = rest / kinds;
  if (elementCount(node.shape(0)) != 1 || elementCount(node.shape(1)) != 1 || !isFloat(node.type(0)) ||
      node.type(1) != ElementType::I64)
    return node.fail("R and T are not a float and an i64 scalar");
  if (count < 1 || rest != count * kinds)
    return node.fail(llvm::Twine(node.inputCount()) + " inputs, expected 2 and " + llvm::Twine(kinds) +
                     " for each tensor");
  for (int64_t i = 0; i < rest; ++i) {
    size_t input = 2 + i, first = 2 + i % count;
    if (!isFloat(node.type(input)) || node.type(input) != node.type(first) ||
        node.shape(input) != node.shape(first))
      return node.fail("input " + llvm::Twine(input) + " is " + spelling(node.type(input)) + " of shape " +
                       shapeText(node.shape(input)) + ", expected that of input " + llvm::Twine(first));
  }
  return count;
}

/// A scalar of the given type computed from R and T.
Value rate(NodeContext &node, ElementType type, llvm::function_ref<Value(Builder &, Value, Value)> body) {
  Builder &b = node.b;
  llvm::SmallVector<ElementwiseOperand> operands;
  for (size_t i = 0; i < 2; ++i)
    operands.push_back(broadcastOperand(b, reshapeTo(b, node.input(i), {}), {}));
  return elementwise(b, {}, node.mlirType(type), operands, [&](Builder &inner, mlir::ValueRange v) {
    return body(inner, scalar::cast(inner, v[0], node.type(0), type),
                scalar::cast(inner, v[1], ElementType::I64, type));
  });
}

/// An elementwise op over tensors of one shape and scalars.
Value combined(Builder &b, llvm::ArrayRef<Value> tensors, llvm::ArrayRef<Value> scalars, ScalarBody body) {
  Shape shape(shapeOf(tensors[0]));
  llvm::SmallVector<ElementwiseOperand> operands;
  for (Value tensor : tensors)
    operands.push_back(broadcastOperand(b, tensor, shape));
  for (Value value : scalars)
    operands.push_back({value, mlir::AffineMap::get(shape.size(), 0, b.getContext()), {}});
  return elementwise(b, shape, elementOf(tensors[0]), operands, body);
}

Value scaled(Builder &b, double factor, Value x) { return scalar::mul(b, constantLike(b, x, factor), x); }

/// norm * x + gradient
Value regularized(Builder &b, double norm, Value x, Value gradient) {
  return norm == 0 ? gradient : combined(b, {x, gradient}, {}, [&](Builder &inner, mlir::ValueRange v) {
    return scalar::add(inner, scaled(inner, norm, v[0]), v[1]);
  });
}

Value square(Builder &b, Value x) { return scalar::mul(b, x, x); }

mlir::LogicalResult buildAdagrad(NodeContext &node) {
  auto count = tensorCount(node, 3);
  if (failed(count))
    return mlir::failure();
  double decay = node.floatAttribute("decay_factor", 0), epsilon = node.floatAttribute("epsilon", 1e-6f);
  double norm = node.floatAttribute("norm_coefficient", 0);
  Builder &b = node.b;
  for (int64_t i = 0; i < *count; ++i) {
    Value x = node.input(2 + i);
    Value gradient = regularized(b, norm, x, node.input(2 + *count + i));
    Value step = rate(node, node.type(2 + i), [&](Builder &inner, Value r, Value t) -> Value {
      Value grown = scalar::add(inner, scaled(inner, decay, t), constantLike(inner, t, 1));
      return inner.create<arith::DivFOp>(r, grown);
    });
    Value squares =
        combined(b, {node.input(2 + 2 * *count + i), gradient}, {}, [](Builder &inner, mlir::ValueRange v) {
          return scalar::add(inner, v[0], square(inner, v[1]));
        });
    auto update = [&](Builder &inner, mlir::ValueRange v) -> Value {
      Value root = scalar::add(inner, inner.create<math::SqrtOp>(v[2]), constantLike(inner, v[2], epsilon));
      return scalar::sub(inner, v[0], inner.create<arith::DivFOp>(scalar::mul(inner, v[3], v[1]), root));
    };
    node.setResult(i, combined(b, {x, gradient, squares}, step, update), node.type(2 + i));
    node.setResult(*count + i, squares, node.type(2 + i));
  }
  return mlir::success();
}

mlir::LogicalResult buildAdam(NodeContext &node) {
  auto count = tensorCount(node, 4);
  if (failed(count))
    return mlir::failure();
  double alpha = node.floatAttribute("alpha", 0.9f), beta = node.floatAttribute("beta", 0.999f);
  double epsilon = node.floatAttribute("epsilon", 1e-6f), norm = node.floatAttribute("norm_coefficient", 0);
  double shrink = 1 - node.floatAttribute("norm_coefficient_post", 0);
  Builder &b = node.b;
  auto averaged = [&](Value old, Value term, double weight, bool squares) {
    return combined(b, {old, term}, {}, [&](Builder &inner, mlir::ValueRange v) {
      Value fresh = squares ? square(inner, v[1]) : v[1];
      return scalar::add(inner, scaled(inner, weight, v[0]), scaled(inner, 1 - weight, fresh));
    });
  };
  for (int64_t i = 0; i < *count; ++i) {
    Value x = node.input(2 + i);
    Value gradient = regularized(b, norm, x, node.input(2 + *count + i));
    Value momentum = averaged(node.input(2 + 2 * *count + i), gradient, alpha, /*squares=*/false);
    Value squares = averaged(node.input(2 + 3 * *count + i), gradient, beta, /*squares=*/true);
    // The averages start at 0; the first updates make up for that.
    Value step = rate(node, node.type(2 + i), [&](Builder &inner, Value r, Value t) -> Value {
      auto missing = [&](double weight) {
        Value power = inner.create<math::PowFOp>(constantLike(inner, t, weight), t);
        return scalar::sub(inner, constantLike(inner, t, 1), power);
      };
      Value corrected = inner.create<arith::DivFOp>(
          scalar::mul(inner, r, inner.create<math::SqrtOp>(missing(beta))), missing(alpha));
      Value later =
          scalar::compare(inner, scalar::Relation::Greater, ElementType::F32, t, constantLike(inner, t, 0));
      return inner.create<arith::SelectOp>(later, corrected, r);
    });
    auto update = [&](Builder &inner, mlir::ValueRange v) -> Value {
      Value root = scalar::add(inner, inner.create<math::SqrtOp>(v[2]), constantLike(inner, v[2], epsilon));
      Value moved =
          scalar::sub(inner, v[0], inner.create<arith::DivFOp>(scalar::mul(inner, v[3], v[1]), root));
      return shrink == 1 ? moved : scaled(inner, shrink, moved);
    };
    node.setResult(i, combined(b, {x, momentum, squares}, step, update), node.type(2 + i));
    node.setResult(*count + i, momentum, node.type(2 + i));
    node.setResult(2 * *count + i, squares, node.type(2 + i));
  }
  return mlir::success();
}

mlir::LogicalResult buildMomentum(NodeContext &node) {
  auto count = tensorCount(node, 3);
  if (failed(count))
    return mlir::failure();
  double alpha = node.floatAttribute("alpha", 0), beta = node.floatAttribute("beta", 0);
  double norm = node.floatAttribute("norm_coefficient", 0);
  std::string mode = node.stringAttribute("mode", "standard");
  if (mode != "standard" && mode != "nesterov")
    return node.fail("mode '" + mode + "' is not standard or nesterov");
  bool nesterov = mode == "nesterov";
  Builder &b = node.b;
  for (int64_t i = 0; i < *count; ++i) {
    ElementType type = node.type(2 + i);
    Value x = node.input(2 + i);
    Value gradient = regularized(b, norm, x, node.input(2 + *count + i));
    // The first update takes the whole gradient.
    Value share = rate(node, type, [&](Builder &inner, Value, Value t) -> Value {
      Value later =
          scalar::compare(inner, scalar::Relation::Greater, ElementType::F32, t, constantLike(inner, t, 0));
      return inner.create<arith::SelectOp>(later, constantLike(inner, t, beta), constantLike(inner, t, 1));
    });
    Value step = rate(node, type, [](Builder &, Value r, Value) { return r; });
    Value momentum = combined(
        b, {node.input(2 + 2 * *count + i), gradient}, share, [&](Builder &inner, mlir::ValueRange v) {
          return scalar::add(inner, scaled(inner, alpha, v[0]), scalar::mul(inner, v[2], v[1]));
        });
    auto update = [&](Builder &inner, mlir::ValueRange v) {
      Value direction = nesterov ? scalar::add(inner, v[1], scaled(inner, alpha, v[2])) : v[2];
      return scalar::sub(inner, v[0], scalar::mul(inner, v[3], direction));
    };
    node.setResult(i, combined(b, {x, gradient, momentum}, step, update), type);
    node.setResult(*count + i, momentum, type);
  }
  return mlir::success();
}

constexpr llvm::StringLiteral kDomain("ai.onnx.preview.training");

const OperatorEntry kOperators[] = {
    {kDomain, "Adagrad", 1, 5, kAnyInputs, buildAdagrad},
    {kDomain, "Adam", 1, 6, kAnyInputs, buildAdam},
    {kDomain, "Momentum", 1, 5, kAnyInputs, buildMomentum},
};

} // namespace

llvm::ArrayRef<OperatorEntry> trainingOperators() { return kOperators; }

} // namespace autotune
