// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stages after vectorisation; each function below is one stage, headed by the dialects alive in it.

#include "passes/LowerKernel.h"

#include "passes/BytePerBool.h"
#include "passes/CopyOp.h"
#include "passes/ErfPolynomial.h"
#include "passes/ExpPolynomial.h"
#include "passes/LowerGathers.h"
#include "passes/LowerTransfers.h"
#include "passes/OverwritableArguments.h"
#include "passes/RowByRow.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;

namespace autotune {
namespace {

constexpr llvm::StringLiteral kBodyName = "kernel_body";
constexpr llvm::StringLiteral kEntryName = "kernel";

/// in: scf + vector + tensor; out: scf + vector + memref
void addBufferization(OpPassManager &pm) {
  bufferization::OneShotBufferizationOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.setFunctionBoundaryTypeConversion(bufferization::LayoutMapOption::IdentityLayoutMap);
  pm.addPass(bufferization::createOneShotBufferizePass(options));
  pm.addPass(bufferization::createDropEquivalentBufferResultsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  // Once more: equal views are one value now, and copies of a view to itself go.
  pm.addPass(createCanonicalizerPass());
}

/// True if `value` is `dest` with writes in place, one after the other.
bool isStoredIn(Value value, Value dest) {
  while (value != dest) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return false;
    auto result = cast<OpResult>(value);
    unsigned index = result.getResultNumber();
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return isStoredIn(branch.thenYield().getOperand(index), dest) &&
             isStoredIn(branch.elseYield().getOperand(index), dest);
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (!isStoredIn(loop.getBody()->getTerminator()->getOperand(index), loop.getRegionIterArg(index)))
        return false;
      value = loop.getInitArgs()[index];
    } else if (auto writer = dyn_cast<DestinationStyleOpInterface>(op)) {
      value = writer.getTiedOpOperand(result)->get();
    } else {
      return false;
    }
  }
  return true;
}

/// `value`, copied to `dest` where it was not written there. A kernel that only moves data may have been
/// folded into the data that it reads; its result must still arrive where the caller looks for it.
Value ensureStored(OpBuilder &b, Value value, Value dest) {
  if (isStoredIn(value, dest))
    return value;
  OpBuilder::InsertionGuard guard(b);
  auto storeOperand = [&](Operation *user, unsigned operand, Value into) {
    b.setInsertionPoint(user);
    user->setOperand(operand, ensureStored(b, user->getOperand(operand), into));
  };
  Operation *op = value.getDefiningOp();
  if (auto branch = dyn_cast_or_null<scf::IfOp>(op)) {
    unsigned index = cast<OpResult>(value).getResultNumber();
    storeOperand(branch.thenYield(), index, dest);
    storeOperand(branch.elseYield(), index, dest);
    return value;
  }
  if (auto loop = dyn_cast_or_null<scf::ForOp>(op)) {
    unsigned index = cast<OpResult>(value).getResultNumber();
    storeOperand(loop, loop.getInitArgsMutable()[index].getOperandNumber(), dest);
    storeOperand(loop.getBody()->getTerminator(), index, loop.getRegionIterArg(index));
    return value;
  }
  return b.create<bufferization::MaterializeInDestinationOp>(value.getLoc(), value.getType(), value, dest)
      .getResult();
}

/// Register tiles that stayed in memory live on the stack, outside of every loop; values between operators
/// that were not tiled may be too large for it and live on the heap while the kernel runs.
struct PlaceTemporaries : PassWrapper<PlaceTemporaries, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PlaceTemporaries)
  static constexpr int64_t kMaxStackBytes = 256 * 1024;

  explicit PlaceTemporaries(int64_t *heapBytes) : heapBytes(heapBytes) {}

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    Block &entry = func.getBody().front();
    int64_t onStack = 0;
    SmallVector<memref::AllocOp> allocs;
    func.walk([](memref::DeallocOp op) { op.erase(); });
    func.walk([&](memref::AllocOp op) { allocs.push_back(op); });
    for (memref::AllocOp op : allocs) {
      MemRefType type = op.getType();
      if (!type.hasStaticShape()) {
        op.emitError("expected a static temporary");
        return signalPassFailure();
      }
      int64_t bytes = type.getNumElements() * ((type.getElementTypeBitWidth() + 7) / 8);
      OpBuilder b = OpBuilder::atBlockBegin(&entry);
      IntegerAttr alignment = b.getI64IntegerAttr(64);
      Value slot;
      if (onStack + bytes <= kMaxStackBytes) {
        onStack += bytes;
        slot = b.create<memref::AllocaOp>(op.getLoc(), type, alignment);
      } else {
        *heapBytes += bytes;
        slot = b.create<memref::AllocOp>(op.getLoc(), type, alignment);
        b.setInsertionPoint(entry.getTerminator());
        b.create<memref::DeallocOp>(op.getLoc(), slot);
      }
      op.replaceAllUsesWith(slot);
      op.erase();
    }
  }

  int64_t *heapBytes;
};

/// Upstream's polynomials for these are off by 10 to 10^6 units in the last place; libm's functions are not.
bool isInaccurate(OperationName op) {
  for (llvm::StringRef name : {"math.asin", "math.atan", "math.atan2", "math.cbrt", "math.cos", "math.sin"})
    if (op.getStringRef() == name)
      return true;
  return false;
}

/// Transcendental functions on vectors become polynomials: a call to libm for each lane costs 3 to 5 times
/// more.
struct PolynomialMath : PassWrapper<PolynomialMath, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PolynomialMath)

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    MathPolynomialApproximationOptions options;
    populateMathPolynomialApproximationPatterns(patterns, options);
    llvm::erase_if(patterns.getNativePatterns(), [](const std::unique_ptr<RewritePattern> &pattern) {
      return pattern->getRootKind() && isInaccurate(*pattern->getRootKind());
    });
    populateErfPolynomialPatterns(patterns);
    populateExpPolynomialPatterns(patterns);
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

/// Of +0 and -0 a maximum may give either: to order them takes two instructions more, and nothing asks for
/// it. NaN still wins; against a constant that costs nothing, so x86 computes a ReLU in one instruction of
/// five.
struct UnsignedZeroExtrema : PassWrapper<UnsignedZeroExtrema, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(UnsignedZeroExtrema)

  void runOnOperation() override {
    getOperation().walk([](arith::ArithFastMathInterface op) {
      if (isa<arith::MaximumFOp, arith::MinimumFOp>(op.getOperation())) {
        arith::FastMathFlags flags = op.getFastMathFlagsAttr().getValue() | arith::FastMathFlags::nsz;
        op->setAttr(op.getFastMathAttrName(), arith::FastMathFlagsAttr::get(op.getContext(), flags));
      }
    });
  }
};

/// Conversions of bf16 become integer arithmetic: where hardware cannot convert, LLVM would call a function
/// that no library has. Before anything else lowers `arith`, which the conversion of functions does on the
/// way.
struct ExpandBfloat16 : PassWrapper<ExpandBfloat16, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandBfloat16)

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    arith::populateExpandBFloat16Patterns(patterns);
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

/// The kernel argument that `view` is a part of; null for temporaries.
BlockArgument argumentOf(Value view) {
  while (Operation *op = view.getDefiningOp()) {
    auto viewOp = dyn_cast<ViewLikeOpInterface>(op);
    if (!viewOp)
      return nullptr;
    view = viewOp.getViewSource();
  }
  auto argument = dyn_cast<BlockArgument>(view);
  return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp()) ? argument : nullptr;
}

/// A chunk of a parallel kernel writes what is its own. A copy into the destination outside the loop over
/// chunks would store stale elements over what other threads wrote meanwhile.
LogicalResult checkChunksAreSeparate(func::FuncOp func) {
  unsigned end = func.getNumArguments() - 1;
  if (func.getArgument(end).use_empty())
    return success();
  for (auto copy : func.getBody().front().getOps<memref::CopyOp>())
    if (BlockArgument target = argumentOf(copy.getTarget()); target && target.getArgNumber() + 2 == end)
      return copy.emitError("expected a parallel kernel to write its own chunks only");
  return success();
}

/// Copies between views become loops: deployed code has no runtime that knows memref descriptors.
struct CopiesToLoops : PassWrapper<CopiesToLoops, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CopiesToLoops)

  void runOnOperation() override {
    if (failed(checkChunksAreSeparate(getOperation())))
      return signalPassFailure();
    getOperation().walk([](memref::CopyOp copy) {
      OpBuilder b(copy);
      createCopy(b, copy.getLoc(), copy.getSource(), copy.getTarget());
      copy.erase();
    });
  }
};

struct StraightLineTransfers : PassWrapper<StraightLineTransfers, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(StraightLineTransfers)

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateLowerTransfersPatterns(patterns);
    populateLowerGathersPatterns(patterns);
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

/// in: scf + vector + memref; out: scf + one-dimensional vectors + memref
void addVectorLowering(OpPassManager &pm) {
  pm.addPass(std::make_unique<CopiesToLoops>());
  pm.addPass(createConvertLinalgToLoopsPass());
  pm.addPass(std::make_unique<StraightLineTransfers>());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

/// in: scf + vector + memref; out: llvm
void addLlvmLowering(OpPassManager &pm) {
  pm.addPass(createLowerAffinePass());
  pm.addPass(createConvertSCFToCFPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createConvertMathToFuncs());
  pm.addPass(createConvertMathToLLVMPass());
  // Calls for each lane take vectors apart, so vectors must still be alive.
  pm.addPass(createConvertMathToLibmPass());
  pm.addNestedPass<func::FuncOp>(std::make_unique<ExpandBfloat16>());
  ConvertVectorToLLVMPassOptions vectorOptions;
  vectorOptions.reassociateFPReductions = true;
  vectorOptions.x86Vector = true;
  pm.addPass(createConvertVectorToLLVMPass(vectorOptions));
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  ConvertFuncToLLVMPassOptions funcOptions;
  funcOptions.useBarePtrCallConv = true;
  pm.addPass(createConvertFuncToLLVMPass(funcOptions));
  pm.addPass(arith::createArithExpandOpsPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createBytePerBoolPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

/// `void kernel(ptr args, i64 begin, i64 end)`: loads the addresses and calls the body, which is inlined into
/// it.
LogicalResult addEntryPoint(ModuleOp module, const llvm::SmallBitVector &overwritable) {
  auto body = module.lookupSymbol<LLVM::LLVMFuncOp>(kBodyName);
  if (!body)
    return module.emitError("expected an LLVM function @") << kBodyName;
  MLIRContext *context = module.getContext();
  Location loc = body.getLoc();
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  auto ptr = LLVM::LLVMPointerType::get(context);
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), {ptr, b.getI64Type(), b.getI64Type()});
  auto entry = b.create<LLVM::LLVMFuncOp>(loc, kEntryName, type);
  Block *block = entry.addEntryBlock(b);
  b.setInsertionPointToStart(block);
  unsigned buffers = body.getNumArguments() - 2;
  SmallVector<Value> operands;
  for (unsigned i = 0; i < buffers; ++i) {
    Value slot =
        b.create<LLVM::GEPOp>(loc, ptr, ptr, block->getArgument(0), ArrayRef<LLVM::GEPArg>{int32_t(i)});
    operands.push_back(b.create<LLVM::LoadOp>(loc, ptr, slot));
  }
  operands.push_back(block->getArgument(1));
  operands.push_back(block->getArgument(2));
  b.create<LLVM::CallOp>(loc, body, operands);
  b.create<LLVM::ReturnOp>(loc, ValueRange());
  body.setLinkage(LLVM::Linkage::Internal);
  // The plan gives a kernel one buffer under two arguments only where it may write over an input.
  bool destIsShared = overwritable.any();
  for (unsigned i = 0; i < buffers; ++i)
    if (!overwritable[i] && !(destIsShared && i + 1 == buffers))
      body.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
  return success();
}

} // namespace

LogicalResult lowerKernelToLlvm(ModuleOp module, int64_t *scratchBytes) {
  auto funcs = llvm::to_vector(module.getOps<func::FuncOp>());
  if (funcs.size() != 1 || funcs[0].getNumArguments() < 3)
    return module.emitError("expected one tiled kernel function");
  func::FuncOp kernel = funcs[0];
  kernel.setName(kBodyName);
  OpBuilder b(module.getContext());
  unsigned dest = kernel.getNumArguments() - 3;
  llvm::SmallBitVector overwritable(dest + 1);
  for (unsigned i = 0; i <= dest; ++i)
    if (kernel.removeArgAttr(i, kOverwritableAttr))
      overwritable.set(i);
  for (unsigned i = 0; i <= dest; ++i)
    if (isa<TensorType>(kernel.getArgument(i).getType()))
      kernel.setArgAttr(i, "bufferization.writable", b.getBoolAttr(i == dest));

  Operation *ret = kernel.getBody().front().getTerminator();
  b.setInsertionPoint(ret);
  if (ret->getNumOperands() > 0) // else a kernel over buffers, which stores by itself
    ret->setOperand(0, ensureStored(b, ret->getOperand(0), kernel.getArgument(dest)));

  RewritePatternSet patterns(module.getContext());
  tensor::populateDecomposeTensorConcatPatterns(patterns);
  if (failed(applyPatternsAndFoldGreedily(kernel, std::move(patterns))))
    return kernel.emitError("expected joins to become insertions");

  int64_t heapBytes = 0;
  PassManager pm(module.getContext());
  addBufferization(pm);
  OpPassManager &funcPm = pm.nest<func::FuncOp>();
  funcPm.addPass(std::make_unique<PlaceTemporaries>(&heapBytes));
  funcPm.addPass(createRowByRowPass());
  funcPm.addPass(std::make_unique<PolynomialMath>());
  funcPm.addPass(std::make_unique<UnsignedZeroExtrema>());
  addVectorLowering(funcPm);
  addLlvmLowering(pm);
  if (failed(pm.run(module)))
    return failure();
  if (scratchBytes)
    *scratchBytes = heapBytes;
  return addEntryPoint(module, overwritable);
}

} // namespace autotune
