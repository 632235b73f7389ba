// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Starts from each store of a tile and goes back over what only this store needs.

#include "passes/RowByRow.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace autotune {
namespace {

/// What is computed at a time: two vectors of AVX-512 or four of AVX2, whose latencies overlap.
constexpr int64_t kLanes = 32;

bool isElementwise(Operation *op) {
  return OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1 && isMemoryEffectFree(op);
}

class StoredTile {
public:
  explicit StoredTile(vector::TransferWriteOp store)
      : store(store), shape(store.getVectorType().getShape()) {}

  bool hasChain() {
    if (shape.empty() || (shape.size() == 1 && shape.back() <= kLanes) || store.getMask() ||
        store.hasOutOfBoundsDim() || !isa<MemRefType>(store.getSource().getType()))
      return false;
    collectChain();
    return !chain.empty();
  }

  void storeInParts() {
    ArrayRef<int64_t> outer = shape.drop_back();
    SmallVector<int64_t> row(outer.size(), 0);
    OpBuilder b(store);
    int64_t rows = computeProduct(outer);
    for (int64_t count = 0; count < rows; ++count) {
      for (int64_t lane = 0; lane < shape.back(); lane += kLanes)
        storePart(b, {row, lane, std::min(kLanes, shape.back() - lane)});
      for (size_t axis = outer.size(); axis-- > 0;) {
        if (++row[axis] < outer[axis])
          break;
        row[axis] = 0;
      }
    }
    store.erase();
    for (Operation *op : chain)
      op->erase();
  }

private:
  /// From the store backwards, so that every user of an op is known before it.
  void collectChain() {
    Operation *last = store.getVector().getDefiningOp();
    if (!last || last->getBlock() != store->getBlock())
      return;
    for (Operation *op = last; op; op = op->getPrevNode()) {
      bool belongs = isElementwise(op) && isTile(op->getResult(0)) && !op->use_empty() &&
                     llvm::all_of(op->getUsers(),
                                  [&](Operation *user) { return user == store || members.contains(user); });
      if (!belongs)
        continue;
      chain.push_back(op);
      members.insert(op);
    }
    for (Operation *op : chain)
      for (Value operand : op->getOperands())
        if (auto read = operand.getDefiningOp<vector::TransferReadOp>(); read && isReadableInParts(read))
          reads.insert(operand);
  }

  /// What only the chain reads, from memory that nothing writes before the store does: other memory than the
  /// store's, or the very elements that it writes (see `overwritableArguments`).
  bool isReadableInParts(vector::TransferReadOp read) {
    if (read->getBlock() != store->getBlock() || read.getMask() || read.hasOutOfBoundsDim() ||
        rootOf(read.getSource()) == rootOf(store.getSource()))
      return false;
    for (Operation *user : read->getUsers())
      if (!members.contains(user))
        return false;
    for (Operation *op = read->getNextNode(); op != store; op = op->getNextNode())
      if (!isMemoryEffectFree(op) && !isa<vector::TransferReadOp>(op))
        return false;
    return true;
  }

  static Value rootOf(Value memref) {
    while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
      memref = view.getViewSource();
    return memref;
  }

  bool isTile(Value value) const {
    auto type = dyn_cast<VectorType>(value.getType());
    return type && type.getShape() == shape;
  }

  struct Part {
    ArrayRef<int64_t> row;
    int64_t lane, lanes; // within the row
  };

  void storePart(OpBuilder &b, const Part &part) {
    llvm::DenseMap<Value, Value> parts;
    for (Operation *op : llvm::reverse(chain)) {
      IRMapping operands;
      for (Value operand : op->getOperands())
        operands.map(operand, partOf(b, operand, part, parts));
      Operation *clone = b.clone(*op, operands);
      auto type = cast<VectorType>(op->getResult(0).getType());
      clone->getResult(0).setType(VectorType::get(part.lanes, type.getElementType()));
      parts[op->getResult(0)] = clone->getResult(0);
    }
    auto [indices, along] = placeOf(b, store.getIndices(), store.getPermutationMap(), part);
    b.create<vector::TransferWriteOp>(store.getLoc(), partOf(b, store.getVector(), part, parts),
                                      store.getSource(), indices, along, b.getBoolArrayAttr(true));
  }

  /// Where a part of what lies at `indices` in memory is.
  std::pair<SmallVector<Value>, AffineMapAttr> placeOf(OpBuilder &b, ValueRange from, AffineMap map,
                                                       const Part &part) {
    SmallVector<Value> indices(from);
    auto move = [&](size_t axis, int64_t offset) {
      auto dim = dyn_cast<AffineDimExpr>(map.getResult(axis)); // else a broadcast
      if (dim && offset != 0)
        indices[dim.getPosition()] = affine::makeComposedAffineApply(
            b, store.getLoc(), b.getAffineDimExpr(0) + offset, {indices[dim.getPosition()]});
    };
    for (auto [axis, offset] : llvm::enumerate(part.row))
      move(axis, offset);
    move(part.row.size(), part.lane);
    AffineMap along = AffineMap::get(map.getNumDims(), 0, map.getResults().back(), b.getContext());
    return {std::move(indices), AffineMapAttr::get(along)};
  }

  Value partOf(OpBuilder &b, Value value, const Part &part, llvm::DenseMap<Value, Value> &parts) {
    if (!isTile(value))
      return value; // a number that all elements share
    Value &known = parts[value];
    if (known)
      return known;
    Location loc = value.getLoc();
    if (reads.contains(value)) {
      auto read = value.getDefiningOp<vector::TransferReadOp>();
      auto [indices, along] = placeOf(b, read.getIndices(), read.getPermutationMap(), part);
      auto type = VectorType::get(part.lanes, read.getVectorType().getElementType());
      return known = b.create<vector::TransferReadOp>(loc, type, read.getSource(), indices, along,
                                                      read.getPadding(), Value(), b.getBoolArrayAttr(true));
    }
    Value row = part.row.empty() ? value : b.create<vector::ExtractOp>(loc, value, part.row);
    known = part.lanes == shape.back()
                ? row
                : b.create<vector::ExtractStridedSliceOp>(loc, row, part.lane, part.lanes, int64_t(1));
    return known;
  }

  vector::TransferWriteOp store;
  ArrayRef<int64_t> shape;
  SmallVector<Operation *> chain; // from the store backwards
  llvm::SmallPtrSet<Operation *, 16> members;
  llvm::SmallDenseSet<Value> reads; // operands of the chain that are read part by part
};

struct RowByRowPass : PassWrapper<RowByRowPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RowByRowPass)

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<affine::AffineDialect, vector::VectorDialect>();
  }

  void runOnOperation() override {
    SmallVector<vector::TransferWriteOp> stores;
    getOperation().walk([&](vector::TransferWriteOp op) { stores.push_back(op); });
    for (vector::TransferWriteOp op : stores)
      if (StoredTile tile(op); tile.hasChain())
        tile.storeInParts();
  }
};

} // namespace

std::unique_ptr<Pass> createRowByRowPass() { return std::make_unique<RowByRowPass>(); }

} // namespace autotune
