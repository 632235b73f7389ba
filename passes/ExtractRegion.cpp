// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clones in program order; whatever is not an operator of the model (constants, empty tensors, fills) comes along.

#include "passes/ExtractRegion.h"

#include "passes/OpRoles.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace autotune {
namespace {

bool comesAlong(Value value) {
  Operation *op = value.getDefiningOp();
  return op && !isOperator(op);
}

SmallVector<Value> operandsAndCaptures(Operation *op) {
  llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), values);
  return SmallVector<Value>(values.begin(), values.end());
}

class RegionExtractor {
public:
  explicit RegionExtractor(func::FuncOp main) : main(main), b(main.getContext()) {}

  OwningOpRef<ModuleOp> run(ArrayRef<int> ids) {
    llvm::DenseSet<int64_t> wanted(ids.begin(), ids.end());
    for (Operation &op : main.getBody().front())
      if (auto id = op.getAttrOfType<IntegerAttr>(kOperatorIdAttr); id && wanted.contains(id.getInt()))
        members.insert(&op);
    llvm::SetVector<Value> arguments, results;
    for (Operation *op : members) {
      collectArguments(op, arguments);
      Value result = operatorResult(op);
      if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !members.contains(topLevel(user)); }))
        results.insert(result);
    }
    return build(arguments.takeVector(), results.takeVector());
  }

private:
  Operation *topLevel(Operation *op) { return main.getBody().front().findAncestorOpInBlock(*op); }

  void collectArguments(Operation *op, llvm::SetVector<Value> &arguments) {
    for (Value value : operandsAndCaptures(op)) {
      if (comesAlong(value))
        collectArguments(value.getDefiningOp(), arguments);
      else if (!members.contains(value.getDefiningOp()))
        arguments.insert(value);
    }
  }

  OwningOpRef<ModuleOp> build(ArrayRef<Value> arguments, ArrayRef<Value> results) {
    Location loc = main.getLoc();
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
    b.setInsertionPointToEnd(module->getBody());
    auto type = b.getFunctionType(TypeRange(ValueRange(arguments)), TypeRange(ValueRange(results)));
    auto region = b.create<func::FuncOp>(loc, "main", type);
    Block *entry = region.addEntryBlock();
    for (auto [value, argument] : llvm::zip(arguments, entry->getArguments()))
      mapping.map(value, argument);
    b.setInsertionPointToStart(entry);
    for (Operation *op : members) {
      bringAlong(op);
      b.clone(*op, mapping);
    }
    SmallVector<Value> returned;
    for (Value result : results)
      returned.push_back(mapping.lookup(result));
    b.create<func::ReturnOp>(loc, returned);
    return module;
  }

  void bringAlong(Operation *op) {
    for (Value value : operandsAndCaptures(op)) {
      if (!comesAlong(value) || mapping.contains(value))
        continue;
      bringAlong(value.getDefiningOp());
      b.clone(*value.getDefiningOp(), mapping);
    }
  }

  func::FuncOp main;
  OpBuilder b;
  llvm::SetVector<Operation *> members;
  IRMapping mapping;
};

} // namespace

OwningOpRef<ModuleOp> extractRegion(func::FuncOp main, ArrayRef<int> ids) { return RegionExtractor(main).run(ids); }

} // namespace autotune
