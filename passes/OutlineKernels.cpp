// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One subgraph at a time: gather, find inputs and the one output, clone into a function, call it.

#include "passes/OutlineKernels.h"

#include "passes/CopyOp.h"
#include "passes/ExtractGraph.h"
#include "passes/OpRoles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace autotune {
namespace {

using Group = SmallVector<linalg::LinalgOp>;

/// Cloned into each kernel instead of passed: scalars, and tensors that only give a shape.
bool isRecreated(Value value) {
  Operation *op = value.getDefiningOp();
  return isa_and_nonnull<tensor::EmptyOp>(op) ||
         (isa_and_nonnull<arith::ConstantOp>(op) && !isa<TensorType>(value.getType()));
}

class Outliner {
public:
  Outliner(func::FuncOp main, Group group, unsigned number)
      : main(main), group(std::move(group)), number(number), rewriter(main.getContext()) {
    members.insert(this->group.begin(), this->group.end());
  }

  LogicalResult run() {
    if (failed(findRootAndResult()))
      return failure();
    findInputs();
    createKernel();
    if (failed(cloneBody()))
      return failure();
    if (failed(alignTails()))
      return failure();
    replaceByCall();
    return success();
  }

private:
  LogicalResult findRootAndResult() {
    for (linalg::LinalgOp op : group) {
      if (op->getNumResults() != 1)
        return op->emitError("expected an operator with one result");
      if (op.getNumReductionLoops() > 0) {
        if (root)
          return op->emitError("expected one root in a subgraph, found a second one");
        root = op;
      }
      if (llvm::any_of(op->getUsers(), [&](Operation *user) { return !members.contains(user); })) {
        if (last)
          return op->emitError("expected one result of a subgraph, found a second value that is used outside");
        last = op;
      }
    }
    if (!last)
      last = group.back();
    return success();
  }

  /// The init that a kernel owns: an empty tensor, or a fill of one.
  static linalg::FillOp fillOf(linalg::LinalgOp op) { return op.getDpsInits()[0].getDefiningOp<linalg::FillOp>(); }

  void findInputs() {
    auto note = [&](Value value) {
      Operation *op = value.getDefiningOp();
      if (!isRecreated(value) && !members.contains(op))
        inputs.insert(value);
    };
    for (linalg::LinalgOp op : group) {
      llvm::for_each(op.getDpsInputs(), note);
      llvm::SetVector<Value> captured;
      getUsedValuesDefinedAbove(op->getRegions(), captured);
      llvm::for_each(captured, note);
    }
  }

  void createKernel() {
    SmallVector<Type> types;
    for (Value input : inputs)
      types.push_back(input.getType());
    types.push_back(last->getResult(0).getType());
    auto type = rewriter.getFunctionType(types, types.back());
    rewriter.setInsertionPointToEnd(main->getParentOfType<ModuleOp>().getBody());
    kernel = rewriter.create<func::FuncOp>(last->getLoc(), ("kernel_" + Twine(number)).str(), type);
    Block *entry = kernel.addEntryBlock();
    for (auto [input, argument] : llvm::zip(inputs, entry->getArguments()))
      mapping.map(input, argument);
    rewriter.setInsertionPointToStart(entry);
  }

  Value recreate(Value value) {
    if (Value known = mapping.lookupOrNull(value))
      return known;
    Operation *clone = rewriter.clone(*value.getDefiningOp());
    mapping.map(value, clone->getResult(0));
    return clone->getResult(0);
  }

  LogicalResult cloneBody() {
    Value dest = kernel.getArguments().back();
    for (linalg::LinalgOp op : group) {
      for (Value input : op.getDpsInputs())
        if (isRecreated(input))
          recreate(input);
      llvm::SetVector<Value> captured;
      getUsedValuesDefinedAbove(op->getRegions(), captured);
      for (Value value : captured)
        if (isRecreated(value))
          recreate(value);
      Value init = op.getDpsInits()[0];
      Value target = op == last ? dest : Value();
      if (linalg::FillOp fill = fillOf(op)) {
        if (!target)
          target = rewriter.create<tensor::EmptyOp>(op.getLoc(), cast<RankedTensorType>(init.getType()).getShape(),
                                                    cast<RankedTensorType>(init.getType()).getElementType());
        Value scalar = isRecreated(fill.getInputs()[0]) ? recreate(fill.getInputs()[0]) : fill.getInputs()[0];
        mapping.map(init, rewriter.create<linalg::FillOp>(op.getLoc(), scalar, target).getResult(0));
      } else if (init.getDefiningOp<tensor::EmptyOp>()) {
        if (target)
          mapping.map(init, target);
        else
          recreate(init);
      } else if (op == last) {
        mapping.map(init, target); // a copy of its own, see ownUpdatedValues
      } else {
        return op->emitError("expected an operator that starts from a filled or empty tensor");
      }
      Operation *clone = rewriter.clone(*op.getOperation(), mapping);
      clone->removeAttr(kOperatorIdAttr);
      clone->removeAttr(kSubgraphAttr);
      mapping.map(op->getResult(0), clone->getResult(0));
      clones.push_back(clone);
      if (op == root)
        rootClone = clone;
    }
    rewriter.create<func::ReturnOp>(last->getLoc(), mapping.lookup(last->getResult(0)));
    return success();
  }

  /// Named ops become generic, and elementwise tails are reordered to run over the root's loops.
  LogicalResult alignTails() {
    AffineMap rootMap;
    for (Operation *clone : clones) {
      auto op = cast<linalg::LinalgOp>(clone);
      bool isRoot = clone == rootClone;
      rewriter.setInsertionPoint(op);
      if (!isa<linalg::GenericOp>(clone)) {
        FailureOr<linalg::GenericOp> generic = linalg::generalizeNamedOp(rewriter, op);
        if (failed(generic))
          return op->emitError("expected an operator that linalg.generic can express");
        op = cast<linalg::LinalgOp>(generic->getOperation());
      }
      if (isRoot) {
        FailureOr<linalg::LinalgOp> ordered = parallelLoopsFirst(op);
        if (failed(ordered))
          return failure();
        rootMap = ordered->getIndexingMapsArray().back();
        continue;
      }
      if (!rootMap || !rootMap.isProjectedPermutation() || rootMap.getNumResults() != op.getNumLoops())
        continue;
      SmallVector<unsigned> interchange(op.getNumLoops());
      for (auto [axis, expr] : llvm::enumerate(rootMap.getResults()))
        interchange[cast<AffineDimExpr>(expr).getPosition()] = axis;
      if (llvm::equal(interchange, llvm::seq<unsigned>(0, op.getNumLoops())))
        continue;
      if (failed(linalg::interchangeGenericOp(rewriter, cast<linalg::GenericOp>(op.getOperation()), interchange)))
        return op->emitError("expected a tail that can run over the loops of its root");
    }
    return success();
  }

  /// Loop nests count on the order of loops that workloads have: parallel ones, then reductions.
  FailureOr<linalg::LinalgOp> parallelLoopsFirst(linalg::LinalgOp op) {
    SmallVector<unsigned> order, reductions;
    for (auto [dim, kind] : llvm::enumerate(op.getIteratorTypesArray()))
      (kind == utils::IteratorType::parallel ? order : reductions).push_back(dim);
    order.append(reductions);
    if (llvm::equal(order, llvm::seq<unsigned>(0, op.getNumLoops())))
      return op;
    FailureOr<linalg::GenericOp> ordered =
        linalg::interchangeGenericOp(rewriter, cast<linalg::GenericOp>(op.getOperation()), order);
    if (failed(ordered))
      return op->emitError("expected a root whose loops can be reordered");
    return cast<linalg::LinalgOp>(ordered->getOperation());
  }

  void replaceByCall() {
    rewriter.setInsertionPoint(last);
    auto type = cast<RankedTensorType>(last->getResult(0).getType());
    Value dest = last.getDpsInits()[0];
    if (fillOf(last) || dest.getDefiningOp<tensor::EmptyOp>())
      dest = rewriter.create<tensor::EmptyOp>(last->getLoc(), type.getShape(), type.getElementType());
    SmallVector<Value> operands(inputs.begin(), inputs.end());
    operands.push_back(dest);
    auto call = rewriter.create<func::CallOp>(last->getLoc(), kernel, operands);
    if (Attribute id = (root ? root : last)->getAttr(kOperatorIdAttr))
      call->setAttr(kOperatorIdAttr, id);
    if (Attribute subgraph = last->getAttr(kSubgraphAttr))
      call->setAttr(kSubgraphAttr, subgraph);
    last->getResult(0).replaceAllUsesWith(call.getResult(0));
    for (linalg::LinalgOp op : llvm::reverse(group))
      op->erase();
  }

  func::FuncOp main;
  Group group;
  unsigned number;
  IRRewriter rewriter;
  llvm::SmallPtrSet<Operation *, 8> members;
  linalg::LinalgOp root, last;
  Operation *rootClone = nullptr;
  SmallVector<Operation *> clones;
  llvm::SetVector<Value> inputs;
  func::FuncOp kernel;
  IRMapping mapping;
};

/// An operator that starts from the elements of another value (a scatter) gets a copy of it to update in place.
void ownUpdatedValues(func::FuncOp main) {
  for (auto op : llvm::to_vector(main.getBody().front().getOps<linalg::LinalgOp>())) {
    Value init = op.getDpsInits()[0];
    if (isa<linalg::FillOp>(op.getOperation()) || init.getDefiningOp<linalg::FillOp>() ||
        init.getDefiningOp<tensor::EmptyOp>())
      continue;
    OpBuilder b(op);
    auto type = cast<RankedTensorType>(init.getType());
    Value empty = b.create<tensor::EmptyOp>(op.getLoc(), type.getShape(), type.getElementType());
    op.getDpsInitsMutable()[0].set(createCopy(b, op.getLoc(), init, empty).getResult(0));
  }
}

} // namespace

LogicalResult outlineKernels(func::FuncOp main) {
  ownUpdatedValues(main);
  llvm::MapVector<int64_t, Group> groups;
  int64_t single = -1; // ops without a subgraph get keys of their own
  for (auto op : main.getBody().front().getOps<linalg::LinalgOp>()) {
    if (isa<linalg::FillOp>(op))
      continue;
    auto subgraph = op->getAttrOfType<IntegerAttr>(kSubgraphAttr);
    groups[subgraph ? subgraph.getInt() : single--].push_back(op);
  }
  unsigned number = 0;
  for (auto &[key, group] : groups)
    if (failed(Outliner(main, std::move(group), number++).run()))
      return failure();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(main.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
  return success();
}

} // namespace autotune
