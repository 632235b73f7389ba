// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recognises operators by op name and by the body of linalg.generic.

#include "passes/OpRoles.h"

#include "dialect/AutotuneDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace autotune {
namespace {

bool hasArithmetic(linalg::LinalgOp op) {
  return llvm::any_of(op.getBlock()->without_terminator(), [](Operation &inner) {
    return !isa<arith::ConstantOp, linalg::IndexOp, tensor::ExtractOp, arith::IndexCastOp>(inner);
  });
}

/// Ops that are finite on the zeros which pad a channel block; others could make NaN there, and NaN * 0 is
/// NaN.
bool isSafeOnZero(linalg::LinalgOp op) {
  return llvm::all_of(op.getBlock()->without_terminator(), [](Operation &inner) {
    if (auto div = dyn_cast<arith::DivFOp>(inner))
      return div.getRhs().getDefiningOp<arith::ConstantOp>() != nullptr;
    return !isa<math::LogOp, math::RsqrtOp, math::PowFOp, arith::DivSIOp, arith::DivUIOp>(inner);
  });
}

bool hasIndexOrExtract(linalg::LinalgOp op) {
  return llvm::any_of(op.getBlock()->without_terminator(),
                      [](Operation &inner) { return isa<linalg::IndexOp, tensor::ExtractOp>(inner); });
}

int64_t rankOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getRank() : -1;
}

/// An operand map that survives the split of dim `channel` into blocks: all dims in order, or some dims in
/// order with the channel last.
bool blocksWithChannel(AffineMap map, unsigned channel) {
  if (map.isIdentity())
    return true;
  if (!map.isProjectedPermutation())
    return false;
  int64_t previous = -1;
  for (auto [i, result] : llvm::enumerate(map.getResults())) {
    auto dim = int64_t(cast<AffineDimExpr>(result).getPosition());
    if (dim <= previous || (dim == channel && i + 1 != map.getNumResults()))
      return false;
    previous = dim;
  }
  return true;
}

LayoutRole elementwiseLayout(linalg::LinalgOp op) {
  if (op.getNumLoops() != 4 || hasIndexOrExtract(op) || !op.getIndexingMapsArray().back().isIdentity())
    return LayoutRole::Plain;
  bool reads4d = false;
  for (auto [operand, map] : llvm::zip(op.getDpsInputs(), op.getIndexingMapsArray())) {
    DenseElementsAttr constant = constantValue(operand);
    // Constants are packed by whole bytes; booleans are bits in MLIR.
    bool packs = !constant || constant.getElementType().getIntOrFloatBitWidth() % 8 == 0;
    if (!blocksWithChannel(map, 1) || !packs)
      return LayoutRole::Plain;
    reads4d |= map.isIdentity() && !constant;
  }
  int64_t channels = op.getStaticLoopRanges()[1];
  // 32 is the widest block: such channels are never padded.
  if (!reads4d || (channels % 32 != 0 && !isSafeOnZero(op)))
    return LayoutRole::Plain;
  return LayoutRole::Follows;
}

/// The mean of each channel: (n, c, h, w) -> (n, c), reduced over h and w.
bool isSpatialReduction(linalg::LinalgOp op) {
  if (!isa<linalg::GenericOp>(op) || op.getNumLoops() != 4 || op.getNumReductionLoops() != 2 ||
      op.getNumDpsInputs() != 1 || hasIndexOrExtract(op))
    return false;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  MLIRContext *context = op.getContext();
  AffineMap kept =
      AffineMap::get(4, 0, {getAffineDimExpr(0, context), getAffineDimExpr(1, context)}, context);
  return maps[0].isIdentity() && maps[1] == kept;
}

/// `2 * d0 + d3 + 1`: what tiles of operands are computed from.
bool isSumOfDims(AffineExpr expr) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return isa<AffineDimExpr, AffineConstantExpr>(expr);
  if (binary.getKind() == AffineExprKind::Add)
    return isSumOfDims(binary.getLHS()) && isSumOfDims(binary.getRHS());
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return binary.getKind() == AffineExprKind::Mul && isa<AffineDimExpr>(binary.getLHS()) && factor &&
         factor.getValue() > 0;
}

bool padsOnlySpace(tensor::PadOp pad) {
  if (rankOf(pad.getResult()) != 4 || !pad.getConstantPaddingValue())
    return false;
  ArrayRef<int64_t> low = pad.getStaticLow(), high = pad.getStaticHigh();
  return low[0] == 0 && high[0] == 0 && low[1] == 0 && high[1] == 0;
}

} // namespace

DenseElementsAttr constantValue(Value value) {
  DenseElementsAttr attr;
  matchPattern(value, m_Constant(&attr));
  return attr;
}

Value operatorResult(Operation *op) {
  for (Value result : op->getResults())
    if (!result.use_empty())
      return result;
  return op->getResult(0);
}

bool isOperator(Operation *op) {
  if (op->getNumResults() == 0 || !llvm::all_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>) ||
      llvm::count_if(op->getResults(), [](Value result) { return !result.use_empty(); }) > 1)
    return false;
  return !isa<arith::ConstantOp, tensor::EmptyOp, linalg::FillOp, WinogradFilterOp>(op);
}

bool isTileable(linalg::LinalgOp op) {
  if (op->getNumResults() != 1)
    return false;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  return maps.back().isProjectedPermutation() && maps.back().getNumResults() == op.getNumParallelLoops() &&
         llvm::all_of(maps, [](AffineMap map) { return llvm::all_of(map.getResults(), isSumOfDims); });
}

Value updatedValue(linalg::LinalgOp op) {
  Value init = op.getDpsInits()[0];
  return isa_and_nonnull<linalg::FillOp, tensor::EmptyOp>(init.getDefiningOp()) ? Value() : init;
}

OpClass operatorClass(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0)
    return hasArithmetic(op) ? OpClass::Elementwise : OpClass::Movement;
  auto isMultiply = [](Operation &inner) { return isa<arith::MulFOp, arith::MulIOp>(inner); };
  if (op.getNumDpsInputs() < 2 || llvm::none_of(op.getBlock()->getOperations(), isMultiply))
    return OpClass::Reduction;
  // Depthwise: no parallel dim is missing from the second input.
  AffineMap weights = op.getIndexingMapsArray()[1], input = op.getIndexingMapsArray()[0];
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  for (unsigned dim = 0; dim < op.getNumLoops(); ++dim)
    if (kinds[dim] == utils::IteratorType::parallel && weights.isFunctionOfDim(dim) &&
        !input.isFunctionOfDim(dim))
      return OpClass::Contraction;
  auto last = op.getNumParallelLoops() - 1;
  return weights.isFunctionOfDim(last) && input.isFunctionOfDim(last) ? OpClass::Depthwise
                                                                      : OpClass::Contraction;
}

std::string operatorKind(Operation *op) {
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    switch (operatorClass(generic)) {
    case OpClass::Contraction:
      return "contraction";
    case OpClass::Depthwise:
      return "depthwise";
    case OpClass::Reduction:
      return "reduction";
    case OpClass::Elementwise:
      return "elementwise";
    case OpClass::Movement:
      return hasIndexOrExtract(generic) ? "gather" : "movement";
    case OpClass::Normalization:
    case OpClass::Attention:
    case OpClass::Recurrence:
      break; // of ideas, which are no generics
    }
  }
  llvm::StringRef name = op->getName().stripDialect();
  return llvm::StringSwitch<llvm::StringRef>(name)
      .Case("conv_2d_nchw_fchw", "conv2d")
      .Case("depthwise_conv_2d_nchw_chw", "depthwise_conv2d")
      .Case("conv_2d_ngchw_gfchw", "grouped_conv2d")
      .Case("conv_1d_ncw_fcw", "conv1d")
      .Case("conv_3d_ncdhw_fcdhw", "conv3d")
      .Case("pooling_nchw_max", "pool_max")
      .Case("pooling_nchw_sum", "pool_sum")
      .Case("extract_slice", "slice")
      .Cases("collapse_shape", "expand_shape", "reshape")
      .Default(name)
      .str();
}

LayoutRole layoutRole(Operation *op) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
      linalgOp && (!isTileable(linalgOp) || updatedValue(linalgOp)))
    return LayoutRole::Plain;
  if (auto conv = dyn_cast<linalg::Conv2DNchwFchwOp>(op))
    return constantValue(conv.getInputs()[1]) ? LayoutRole::Anchor : LayoutRole::Plain;
  if (auto conv = dyn_cast<linalg::DepthwiseConv2DNchwChwOp>(op))
    return constantValue(conv.getInputs()[1]) ? LayoutRole::Anchor : LayoutRole::Plain;
  if (isa<linalg::PoolingNchwMaxOp, linalg::PoolingNchwSumOp>(op))
    return LayoutRole::Follows;
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return padsOnlySpace(pad) ? LayoutRole::Follows : LayoutRole::Plain;
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    if (isSpatialReduction(generic))
      return LayoutRole::Follows;
    if (generic.getNumReductionLoops() == 0 && hasArithmetic(generic))
      return elementwiseLayout(generic);
  }
  return LayoutRole::Plain;
}

FusionRole fusionRole(Operation *op) {
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::PadOp, tensor::ExtractSliceOp,
          tensor::ConcatOp>(op))
    return FusionRole::View;
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || !isTileable(linalgOp))
    return FusionRole::Movement;
  if (linalgOp.getNumReductionLoops() > 0)
    return FusionRole::Root;
  if (!hasArithmetic(linalgOp) || hasIndexOrExtract(linalgOp) || updatedValue(linalgOp))
    return FusionRole::Movement;
  bool plainOutput = linalgOp.getIndexingMapsArray().back().isIdentity();
  return isa<linalg::GenericOp>(op) && plainOutput ? FusionRole::Elementwise : FusionRole::Movement;
}

double operatorFlops(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || !hasArithmetic(linalgOp))
    return 0;
  double points = 1;
  for (int64_t range : linalgOp.getStaticLoopRanges())
    points *= double(range);
  double perPoint = double(llvm::range_size(linalgOp.getBlock()->without_terminator()));
  return points * perPoint;
}

} // namespace autotune
