// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Changes types in place, then removes the conversions that became identities.

#include "passes/WidenHalf.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace autotune {
namespace {

bool isHalf(Type type) { return getElementTypeOrSelf(type).isF16() || getElementTypeOrSelf(type).isBF16(); }

/// The same type with f32 in place of a 16-bit float.
Type widened(Type type) {
  if (!isHalf(type))
    return type;
  Type single = Float32Type::get(type.getContext());
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(single);
  return single;
}

bool touchesHalf(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), isHalf) || llvm::any_of(op->getResultTypes(), isHalf);
}

bool canWiden(func::FuncOp main) {
  return !main.walk([](Operation *op) {
                bool looksAtBits = isa<arith::BitcastOp, tensor::BitcastOp, func::CallOp>(op);
                auto constant = dyn_cast<arith::ConstantOp>(op);
                bool unknownConstant = constant && !isa<FloatAttr, DenseElementsAttr>(constant.getValue());
                return touchesHalf(op) && (looksAtBits || unknownConstant) ? WalkResult::interrupt()
                                                                           : WalkResult::advance();
              })
              .wasInterrupted();
}

bool hasHalf(func::FuncOp main) {
  return main
      .walk([](Operation *op) { return touchesHalf(op) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

TypedAttr widenedValue(TypedAttr value) {
  auto convert = [](APFloat number) {
    bool lost;
    number.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &lost);
    return number;
  };
  if (auto number = dyn_cast<FloatAttr>(value))
    return FloatAttr::get(widened(number.getType()), convert(number.getValue()));
  auto dense = cast<DenseElementsAttr>(value);
  auto type = cast<ShapedType>(widened(dense.getType()));
  if (dense.isSplat())
    return cast<TypedAttr>(DenseElementsAttr::get(type, convert(dense.getSplatValue<APFloat>())));
  std::vector<float> numbers;
  numbers.reserve(dense.getNumElements());
  for (APFloat number : dense.getValues<APFloat>())
    numbers.push_back(convert(number).convertToFloat());
  return cast<TypedAttr>(DenseElementsAttr::get(type, ArrayRef<float>(numbers)));
}

/// A generic that converts each element of `source`.
Value converted(OpBuilder &b, Location loc, Value source, Type element) {
  auto type = cast<RankedTensorType>(source.getType());
  Value empty = b.create<tensor::EmptyOp>(loc, type.getShape(), element);
  AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  return b
      .create<linalg::GenericOp>(
          loc, empty.getType(), source, empty, ArrayRef<AffineMap>{identity, identity}, loops,
          [&](OpBuilder &inner, Location at, ValueRange v) {
            Value number = element.isF32() ? inner.create<arith::ExtFOp>(at, element, v[0]).getResult()
                                           : inner.create<arith::TruncFOp>(at, element, v[0]).getResult();
            inner.create<linalg::YieldOp>(at, number);
          })
      .getResult(0);
}

/// True for a rounding that only brings the accumulator of a half-precision reduction back to the type of its
/// operands.
bool roundsAccumulator(arith::TruncFOp op) {
  auto argument = dyn_cast<BlockArgument>(op.getIn());
  if (!argument)
    return false;
  auto user = dyn_cast<linalg::LinalgOp>(argument.getOwner()->getParentOp());
  if (!user)
    return false;
  Value source = user->getOperand(argument.getArgNumber());
  while (isa_and_nonnull<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(source.getDefiningOp()))
    source = source.getDefiningOp()->getOperand(0);
  auto producer = source.getDefiningOp<linalg::LinalgOp>();
  return producer && producer.getNumReductionLoops() > 0 && llvm::any_of(producer->getOperandTypes(), isHalf);
}

class Widener {
public:
  explicit Widener(func::FuncOp main) : main(main), b(main.getContext()) {}

  void run() {
    Block &entry = main.getBody().front();
    main.walk([&](arith::TruncFOp op) {
      if (isHalf(op.getType()) && op.getIn().getType().isF32() && !roundsAccumulator(op))
        roundings.push_back(op);
    });
    widenTypes();
    dropConversions();
    b.setInsertionPointToStart(&entry);
    for (BlockArgument argument : entry.getArguments())
      if (isHalf(argument.getType())) {
        Value single = converted(b, main.getLoc(), argument, b.getF32Type());
        argument.replaceAllUsesExcept(single, single.getDefiningOp());
      }
    Operation *ret = entry.getTerminator();
    b.setInsertionPoint(ret);
    for (auto [operand, type] : llvm::zip(ret->getOpOperands(), main.getResultTypes()))
      if (isHalf(type) && operand.get().getType() != type)
        operand.set(converted(b, ret->getLoc(), operand.get(), getElementTypeOrSelf(type)));
  }

private:
  void widenTypes() {
    main.walk([&](Operation *op) {
      if (isa<func::FuncOp>(op))
        return;
      if (auto constant = dyn_cast<arith::ConstantOp>(op); constant && isHalf(constant.getType()))
        constant.setValueAttr(widenedValue(constant.getValue()));
      if (auto truncate = dyn_cast<arith::TruncFOp>(op); truncate && isHalf(truncate.getType()))
        halfTypes[truncate] = truncate.getType();
      for (Value result : op->getResults())
        result.setType(widened(result.getType()));
      for (Region &region : op->getRegions())
        for (BlockArgument argument : region.getArguments())
          argument.setType(widened(argument.getType()));
    });
  }

  /// A rounding of the model stays one: to half precision and back.
  void dropConversions() {
    for (arith::TruncFOp op : roundings) {
      b.setInsertionPoint(op);
      Value half = b.create<arith::TruncFOp>(op.getLoc(), halfTypes.lookup(op), op.getIn());
      op.replaceAllUsesWith(b.create<arith::ExtFOp>(op.getLoc(), op.getType(), half).getResult());
    }
    SmallVector<Operation *> dead(roundings.begin(), roundings.end());
    main.walk([&](Operation *op) {
      if (!isa<arith::TruncFOp, arith::ExtFOp>(op) ||
          op->getOperand(0).getType() != op->getResult(0).getType() || op->use_empty())
        return;
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      dead.push_back(op);
    });
    for (Operation *op : dead)
      op->erase();
  }

  func::FuncOp main;
  OpBuilder b;
  SmallVector<arith::TruncFOp> roundings;
  llvm::DenseMap<Operation *, Type> halfTypes;
};

} // namespace

void widenHalf(func::FuncOp main) {
  if (hasHalf(main) && canWiden(main))
    Widener(main).run();
}

} // namespace autotune
