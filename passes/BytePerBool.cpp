// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/BytePerBool.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace autotune {
namespace {

/// The vector of bytes that a vector of bools is kept as; null for other types.
VectorType byteVector(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector || !vector.getElementType().isInteger(1))
    return nullptr;
  return vector.clone(IntegerType::get(type.getContext(), 8));
}

Value toBytes(OpBuilder &b, Location loc, Value bools) {
  return b.create<LLVM::ZExtOp>(loc, byteVector(bools.getType()), bools);
}

/// Loads bytes; any value but 0 counts as true.
void replaceLoaded(OpBuilder &b, Operation *op, Value bytes) {
  Value zero = b.create<LLVM::ZeroOp>(op->getLoc(), bytes.getType());
  op->getResult(0).replaceAllUsesWith(
      b.create<LLVM::ICmpOp>(op->getLoc(), LLVM::ICmpPredicate::ne, bytes, zero));
  op->erase();
}

struct BytePerBool : PassWrapper<BytePerBool, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BytePerBool)

  void runOnOperation() override {
    SmallVector<Operation *> accesses;
    getOperation().walk([&](Operation *op) {
      if (isa<LLVM::LoadOp, LLVM::StoreOp, LLVM::MaskedLoadOp, LLVM::MaskedStoreOp, LLVM::masked_gather,
              LLVM::masked_scatter>(op))
        accesses.push_back(op);
    });
    for (Operation *op : accesses)
      if (failed(rewrite(op)))
        return signalPassFailure();
  }

  static LogicalResult rewrite(Operation *op) {
    OpBuilder b(op);
    Location loc = op->getLoc();
    if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
      if (VectorType bytes = byteVector(load.getType()))
        replaceLoaded(b, op, b.create<LLVM::LoadOp>(loc, bytes, load.getAddr(), /*alignment=*/1));
    } else if (auto store = dyn_cast<LLVM::StoreOp>(op)) {
      if (byteVector(store.getValue().getType())) {
        b.create<LLVM::StoreOp>(loc, toBytes(b, loc, store.getValue()), store.getAddr(), /*alignment=*/1);
        op->erase();
      }
    } else if (auto load = dyn_cast<LLVM::MaskedLoadOp>(op)) {
      if (VectorType bytes = byteVector(load.getType())) {
        SmallVector<Value> rest;
        for (Value value : load.getPassThru())
          rest.push_back(toBytes(b, loc, value));
        replaceLoaded(
            b, op,
            b.create<LLVM::MaskedLoadOp>(loc, bytes, load.getData(), load.getMask(), rest, /*alignment=*/1));
      }
    } else if (auto store = dyn_cast<LLVM::MaskedStoreOp>(op)) {
      if (byteVector(store.getValue().getType())) {
        b.create<LLVM::MaskedStoreOp>(loc, toBytes(b, loc, store.getValue()), store.getData(),
                                      store.getMask(),
                                      /*alignment=*/1);
        op->erase();
      }
    } else if (op->getNumResults() ? bool(byteVector(op->getResult(0).getType()))
                                   : bool(byteVector(op->getOperand(0).getType()))) {
      return op->emitError("expected no gather or scatter of bools");
    }
    return success();
  }
};

} // namespace

std::unique_ptr<Pass> createBytePerBoolPass() { return std::make_unique<BytePerBool>(); }

} // namespace autotune
