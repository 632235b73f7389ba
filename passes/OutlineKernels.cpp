// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One subgraph at a time: gather, find inputs and the one output, clone into a function, call it.

#include "passes/OutlineKernels.h"

#include "passes/CopyOp.h"
#include "passes/ExtractGraph.h"
#include "passes/OpRoles.h"
#include "passes/OutlineAsIs.h"

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

/// Cloned into each kernel instead of passed. A filled tensor that is read as data is passed.
bool isCloned(Value value) { return isRecreated(value) && !value.getDefiningOp<linalg::FillOp>(); }

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
      if (op.getNumReductionLoops() > 0) {
        if (root)
          return op->emitError("expected one root in a subgraph, found a second one");
        root = op;
      }
      if (llvm::any_of(op->getUsers(), [&](Operation *user) { return !members.contains(user); })) {
        if (last)
          return op->emitError(
              "expected one result of a subgraph, found a second value that is used outside");
        last = op;
      }
    }
    if (!last)
      last = group.back();
    return success();
  }

  /// The init that a kernel owns: an empty tensor, or a fill of one.
  static linalg::FillOp fillOf(linalg::LinalgOp op) {
    return op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  }

  void findInputs() {
    for (linalg::LinalgOp op : group) {
      for (Value input : op.getDpsInputs())
        noteInput(input);
      if (linalg::FillOp fill = fillOf(op))
        noteInput(fill.getInputs()[0]);
      if (Value updated = updatedValue(op); updated && op != last)
        noteInput(updated);
      llvm::SetVector<Value> captured;
      getUsedValuesDefinedAbove(op->getRegions(), captured);
      for (Value value : captured)
        noteInput(value);
    }
  }

  void noteInput(Value value) {
    Operation *op = value.getDefiningOp();
    if (members.contains(op))
      return;
    if (!isCloned(value))
      inputs.insert(value);
    else
      for (Value operand : op->getOperands())
        noteInput(operand);
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

  LogicalResult cloneBody() {
    Value dest = kernel.getArguments().back();
    for (linalg::LinalgOp op : group) {
      for (Value input : op.getDpsInputs())
        recreate(rewriter, input, mapping);
      llvm::SetVector<Value> captured;
      getUsedValuesDefinedAbove(op->getRegions(), captured);
      for (Value value : captured)
        recreate(rewriter, value, mapping);
      Value init = op.getDpsInits()[0];
      Value target = op == last ? dest : Value();
      if (linalg::FillOp fill = fillOf(op)) {
        if (!target)
          target =
              rewriter.create<tensor::EmptyOp>(op.getLoc(), cast<RankedTensorType>(init.getType()).getShape(),
                                               cast<RankedTensorType>(init.getType()).getElementType());
        recreate(rewriter, fill.getInputs()[0], mapping);
        Value scalar = mapping.lookup(fill.getInputs()[0]);
        mapping.map(init, rewriter.create<linalg::FillOp>(op.getLoc(), scalar, target).getResult(0));
      } else if (init.getDefiningOp<tensor::EmptyOp>()) {
        if (target)
          mapping.map(init, target);
        else
          recreate(rewriter, init, mapping);
      } else if (op == last) {
        if (members.contains(init.getDefiningOp()))
          return op->emitError("expected an operator that starts from a value made outside of its subgraph");
        mapping.map(init, target); // a copy of its own, see ownUpdatedValue
      } else {
        recreate(rewriter, init, mapping);
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
      if (failed(linalg::interchangeGenericOp(rewriter, cast<linalg::GenericOp>(op.getOperation()),
                                              interchange)))
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

/// An operator that starts from the elements of another value (a scatter) and gives a kernel its result gets
/// a copy of that value to update in place; nothing for other kernels, to which such a value is one more
/// input.
linalg::LinalgOp ownUpdatedValue(const Group &group) {
  linalg::LinalgOp op = group.back();
  Value init = updatedValue(op);
  if (!init || llvm::is_contained(group, init.getDefiningOp<linalg::LinalgOp>()))
    return nullptr;
  OpBuilder b(op);
  auto type = cast<RankedTensorType>(init.getType());
  Value empty = b.create<tensor::EmptyOp>(op.getLoc(), type.getShape(), type.getElementType());
  linalg::GenericOp copy = createCopy(b, op.getLoc(), init, empty);
  op.getDpsInitsMutable()[0].set(copy.getResult(0));
  return cast<linalg::LinalgOp>(copy.getOperation());
}

/// The linalg ops of @main by subgraph; an op without one is a group of its own.
SmallVector<Group> findGroups(func::FuncOp main) {
  llvm::MapVector<int64_t, Group> groups;
  int64_t single = -1;
  for (auto op : main.getBody().front().getOps<linalg::LinalgOp>()) {
    if (isa<linalg::FillOp>(op) || op->getNumResults() != 1)
      continue;
    auto subgraph = op->getAttrOfType<IntegerAttr>(kSubgraphAttr);
    groups[subgraph ? subgraph.getInt() : single--].push_back(op);
  }
  SmallVector<Group> found;
  for (auto &[key, group] : groups)
    found.push_back(std::move(group));
  for (size_t i = 0, e = found.size(); i < e; ++i)
    if (linalg::LinalgOp copy = ownUpdatedValue(found[i]))
      found.push_back({copy});
  return found;
}

/// What is neither a linalg op of one result nor a view of some kind.
LogicalResult outlineOthers(func::FuncOp main, unsigned &number) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(main.getBody().front()))) {
    if (isOpTriviallyDead(&op)) {
      op.erase();
      continue;
    }
    bool isScalar = llvm::none_of(op.getResultTypes(), llvm::IsaPred<TensorType>);
    if (isPlaceable(&op) || (isScalar && isPure(&op)))
      continue;
    if (failed(outlineAsIs(main, &op, ("kernel_" + Twine(number++)).str())))
      return failure();
  }
  return success();
}

} // namespace

LogicalResult outlineKernels(func::FuncOp main) {
  splitResults(main);
  unsigned number = 0;
  for (Group &group : findGroups(main))
    if (failed(Outliner(main, std::move(group), number++).run()))
      return failure();
  if (failed(outlineOthers(main, number)))
    return failure();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(main.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
  return success();
}

} // namespace autotune
