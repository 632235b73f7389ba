// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads the root's loops, index maps and operands; everything else that matters is in the digest of the text.

#include "passes/ExtractWorkload.h"

#include "dialect/AutotuneDialect.h"
#include "passes/OpRoles.h"
#include "passes/TileNest.h"
#include "passes/WholeIdeas.h"
#include "schedule/Algorithm.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/OwningOpRef.h"

using namespace mlir;

namespace autotune {
namespace {

void addTerms(AffineExpr expr, std::vector<IndexTerm> &terms) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    terms.push_back({int(dim.getPosition()), 1});
    return;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return;
  if (binary.getKind() == AffineExprKind::Add) {
    addTerms(binary.getLHS(), terms);
    addTerms(binary.getRHS(), terms);
  } else if (auto dim = dyn_cast<AffineDimExpr>(binary.getLHS())) {
    if (auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS()))
      terms.push_back({int(dim.getPosition()), factor.getValue()});
  }
}

/// The buffer behind `value`: a kernel argument, seen through the slice that it is read as.
OperandInfo describe(Value value, AffineMap map, ArrayRef<bool> constants) {
  OperandInfo info;
  auto type = cast<RankedTensorType>(value.getType());
  info.offsets.assign(type.getRank(), 0);
  while (auto slice = value.getDefiningOp<tensor::ExtractSliceOp>()) {
    ArrayRef<int64_t> offsets = slice.getStaticOffsets();
    for (size_t axis = 0; axis < std::min(offsets.size(), info.offsets.size()); ++axis)
      info.offsets[axis] += offsets[axis];
    value = slice.getSource();
  }
  auto whole = cast<RankedTensorType>(value.getType());
  info.shape.assign(whole.getShape().begin(), whole.getShape().end());
  llvm::raw_string_ostream(info.dtype) << type.getElementType();
  for (AffineExpr expr : map.getResults()) {
    info.index.emplace_back();
    addTerms(expr, info.index.back());
  }
  auto argument = dyn_cast<BlockArgument>(value);
  info.constant =
      argument && argument.getArgNumber() < constants.size() && constants[argument.getArgNumber()];
  return info;
}

bool hasWindow(linalg::LinalgOp op) {
  return llvm::any_of(op.getIndexingMapsArray()[0].getResults(),
                      [](AffineExpr expr) { return isa<AffineBinaryOpExpr>(expr); });
}

std::string workloadKind(linalg::LinalgOp root, OpClass opClass) {
  switch (opClass) {
  case OpClass::Contraction:
    return hasWindow(root) ? "conv" : "matmul";
  case OpClass::Depthwise:
    return "depthwise_conv";
  case OpClass::Reduction:
    return hasWindow(root) ? "pool" : "reduction";
  case OpClass::Elementwise:
    return "elementwise";
  case OpClass::Movement:
  case OpClass::Normalization:
  case OpClass::Attention:
  case OpClass::Recurrence:
    return operatorKind(root);
  }
  llvm_unreachable("every class is handled");
}

/// The op that gives the kernel its result, seen through insertions into a larger buffer; null where the
/// kernel holds anything that loop nests are not made of.
linalg::LinalgOp lastOp(func::FuncOp kernel) {
  Value value = kernel.getBody().front().getTerminator()->getOperand(0);
  while (auto insert = value.getDefiningOp<tensor::InsertSliceOp>())
    value = insert.getSource();
  auto op = value.getDefiningOp<linalg::LinalgOp>();
  return op && !isa<linalg::FillOp>(op.getOperation()) && canBeTiled(kernel) ? op : linalg::LinalgOp();
}

/// The products that a convolution over transformed filters is computed by.
Workload describeWinograd(linalg::LinalgOp root, WinogradFilterOp filters) {
  ArrayRef<int64_t> result =
      cast<RankedTensorType>(root->getResult(0).getType()).getShape(); // [n, o, oh, ow, v]
  BlockedConvolution shape;
  shape.images = result[0];
  shape.outBlocks = result[1];
  shape.height = result[2];
  shape.width = result[3];
  shape.block = result[4];
  shape.inBlocks = filters.getFilter().getType().getDimSize(1);
  return winogradProducts(shape, int64_t(filters.getOutputs()));
}

/// Loops, operands and kind as the root op has them.
Workload describeRoot(linalg::LinalgOp root, linalg::LinalgOp last, ArrayRef<bool> constantArguments) {
  Workload workload;
  workload.opClass = operatorClass(root);
  workload.kind = workloadKind(root, workload.opClass);
  for (auto [extent, kind] : llvm::zip(root.getStaticLoopRanges(), root.getIteratorTypesArray()))
    workload.dims.push_back({extent, kind == utils::IteratorType::reduction});
  SmallVector<AffineMap> maps = root.getIndexingMapsArray();
  for (auto [operand, map] : llvm::zip(root.getDpsInputs(), maps))
    if (isa<RankedTensorType>(operand.getType()))
      workload.inputs.push_back(describe(operand, map, constantArguments));
  // The destination's halo belongs to the kernel; it is what the last op, or the fill before it, writes into.
  Value dest = last.getDpsInits()[0];
  if (auto fill = dest.getDefiningOp<linalg::FillOp>())
    dest = fill.getOutputs()[0];
  workload.output = describe(dest, maps.back(), {});
  return workload;
}

} // namespace

std::string kernelText(func::FuncOp kernel) {
  OpBuilder b(kernel.getContext());
  OwningOpRef<ModuleOp> module = ModuleOp::create(b.getUnknownLoc());
  b.setInsertionPointToEnd(module->getBody());
  auto clone = cast<func::FuncOp>(b.clone(*kernel.getOperation()));
  clone.setName("kernel");
  clone.setVisibility(SymbolTable::Visibility::Public);
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  return text;
}

std::optional<Workload> extractWorkload(func::FuncOp kernel, llvm::StringRef text,
                                        const WorkloadContext &context) {
  if (Operation *idea = wholeIdea(kernel)) {
    Workload workload = describeIdea(idea);
    workload.body = hashText(text);
    workload.threads = context.threads;
    workload.numerics = context.numerics;
    return workload;
  }
  linalg::LinalgOp last = lastOp(kernel), root = last;
  if (!last)
    return std::nullopt;
  kernel.walk([&](linalg::LinalgOp op) {
    if (op.getNumReductionLoops() > 0)
      root = op;
  });
  auto winograd = kernel.getBody().front().getOps<WinogradFilterOp>();
  Workload workload = winograd.empty() ? describeRoot(root, last, context.constantArguments)
                                       : describeWinograd(root, *winograd.begin());
  kernel.walk([&](linalg::LinalgOp op) {
    // What a reduction does for each element is its kind; an elementwise root is known by its body only.
    bool isKind = op == root && op.getNumReductionLoops() > 0;
    if (isKind || isa<linalg::FillOp>(op.getOperation()))
      return;
    for (Operation &inner : op.getBlock()->without_terminator())
      workload.epilogue.push_back(inner.getName().getStringRef().str());
  });
  workload.body = hashText(text);
  workload.threads = context.threads;
  workload.numerics = context.numerics;
  return workload;
}

} // namespace autotune
