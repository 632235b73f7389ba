// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Visits the ops of @main in order; what an op reads has been placed already when it is visited.

#include "passes/PlaceBuffers.h"

#include "passes/CallSlices.h"
#include "passes/CopyOp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace autotune {
namespace {

class BufferPlacer {
public:
  explicit BufferPlacer(func::FuncOp main)
      : main(main), module(main->getParentOfType<ModuleOp>()), calls(main), b(main.getContext()) {}

  LogicalResult run() {
    for (Operation &op : llvm::make_early_inc_range(main.getBody().front().without_terminator()))
      if (failed(visit(&op)))
        return failure();
    placeResults();
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(main.getBody().front())))
      if (isOpTriviallyDead(&op))
        op.erase();
    return success();
  }

private:
  LogicalResult visit(Operation *op) {
    if (auto pad = dyn_cast<tensor::PadOp>(op))
      return visitPad(pad);
    if (auto concat = dyn_cast<tensor::ConcatOp>(op))
      return visitConcat(concat);
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
      return visitSlice(slice);
    if (auto fill = dyn_cast<linalg::FillOp>(op)) {
      if (op->use_empty())
        return success();
      return visitFill(fill);
    }
    if (isa<arith::ConstantOp, tensor::EmptyOp, func::CallOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
      return success();
    return op->emitError("expected kernels and views, found '") << op->getName() << "'";
  }

  // -- what a value is -------------------------------------------------------------------------------------------

  /// The empty tensor that becomes `value` through one or more kernels that write it in turn; null for other values.
  Operation *ownBuffer(Value value) {
    while (auto call = value.getDefiningOp<func::CallOp>())
      value = call.getOperands().back();
    return value.getDefiningOp<tensor::EmptyOp>();
  }

  /// True when every use of `value` but `except` is an input of a kernel.
  bool readOnlyByKernels(Value value, Operation *except) {
    return llvm::all_of(value.getUses(), [&](OpOperand &use) {
      auto call = dyn_cast<func::CallOp>(use.getOwner());
      return use.getOwner() == except || (call && use.getOperandNumber() + 1 != call.getNumOperands());
    });
  }

  // -- kernels of its own ------------------------------------------------------------------------------------------

  func::FuncOp createKernel(Location loc, llvm::StringRef stem, ArrayRef<Type> types) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(module.getBody());
    auto kernel = b.create<func::FuncOp>(loc, stem, b.getFunctionType(types, types.back()));
    calls.symbolTable().insert(kernel);
    kernel.addEntryBlock();
    return kernel;
  }

  /// A kernel that copies `value` into a new buffer; the call stands at the builder's place.
  func::CallOp copy(Location loc, Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    func::FuncOp kernel = createKernel(loc, "copy", {type, type});
    OpBuilder body = OpBuilder::atBlockBegin(&kernel.getBody().front());
    linalg::GenericOp op = createCopy(body, loc, kernel.getArgument(0), kernel.getArgument(1));
    body.create<func::ReturnOp>(loc, op.getResult(0));
    Value empty = b.create<tensor::EmptyOp>(loc, type.getShape(), type.getElementType());
    return b.create<func::CallOp>(loc, kernel, ValueRange{value, empty});
  }

  /// `empty` with `value` stored in everything outside `interior` (everything, when interior is empty).
  Value fillOutside(Location loc, RankedTensorType type, TypedAttr value, ArrayRef<int64_t> low,
                    ArrayRef<int64_t> interior) {
    func::FuncOp kernel = createKernel(loc, "border", {type});
    OpBuilder body = OpBuilder::atBlockBegin(&kernel.getBody().front());
    Value scalar = body.create<arith::ConstantOp>(loc, value);
    Value whole = kernel.getArgument(0);
    auto fillPart = [&](ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes) {
      Slice part = Slice::at(b, offsets, sizes);
      Value slice = body.create<tensor::ExtractSliceOp>(loc, whole, part.offsets, part.sizes, part.strides);
      Value filled = body.create<linalg::FillOp>(loc, scalar, slice).getResult(0);
      whole = body.create<tensor::InsertSliceOp>(loc, filled, whole, part.offsets, part.sizes, part.strides);
    };
    SmallVector<int64_t> offsets(type.getRank(), 0), sizes(type.getShape());
    if (interior.empty())
      fillPart(offsets, sizes);
    // Axis by axis, what was covered by the axes before is left out: no element is stored twice.
    for (size_t axis = 0; axis < interior.size(); ++axis) {
      int64_t extent = type.getDimSize(axis), high = extent - low[axis] - interior[axis];
      if (low[axis] > 0) {
        sizes[axis] = low[axis];
        fillPart(offsets, sizes);
      }
      if (high > 0) {
        offsets[axis] = extent - high;
        sizes[axis] = high;
        fillPart(offsets, sizes);
      }
      offsets[axis] = low[axis];
      sizes[axis] = interior[axis];
    }
    body.create<func::ReturnOp>(loc, whole);
    Value empty = b.create<tensor::EmptyOp>(loc, type.getShape(), type.getElementType());
    return b.create<func::CallOp>(loc, kernel, ValueRange{empty}).getResult(0);
  }

  // -- the ops that vanish ---------------------------------------------------------------------------------------

  LogicalResult visitFill(linalg::FillOp fill) {
    TypedAttr value;
    if (!matchPattern(fill.getInputs()[0], m_Constant(&value)))
      return fill->emitError("expected a fill with a constant");
    b.setInsertionPoint(fill);
    auto type = cast<RankedTensorType>(fill.getResult(0).getType());
    fill->getResult(0).replaceAllUsesWith(fillOutside(fill.getLoc(), type, value, {}, {}));
    fill->erase();
    return success();
  }

  LogicalResult visitPad(tensor::PadOp pad) {
    Value source = pad.getSource();
    auto sourceType = cast<RankedTensorType>(source.getType());
    auto type = cast<RankedTensorType>(pad.getResult().getType());
    Value padding = pad.getConstantPaddingValue();
    TypedAttr value;
    bool negative = llvm::any_of(llvm::concat<const int64_t>(pad.getStaticLow(), pad.getStaticHigh()),
                                 [](int64_t n) { return n < 0; });
    if (!padding || !matchPattern(padding, m_Constant(&value)) || negative)
      return pad->emitError("expected a padding of constant value and non-negative extents");
    Slice interior = Slice::at(b, pad.getStaticLow(), sourceType.getShape());
    func::CallOp producer = CallSlices::freeProducer(source);
    if (!producer || !readOnlyByKernels(source, pad)) {
      b.setInsertionPoint(pad);
      producer = copy(pad.getLoc(), source);
    }
    Value made = producer.getResult(0);
    SmallVector<OpOperand *> others;
    for (OpOperand &use : made.getUses())
      if (use.getOwner() != pad)
        others.push_back(&use);
    b.setInsertionPoint(producer);
    Value border = fillOutside(pad.getLoc(), type, value, pad.getStaticLow(), sourceType.getShape());
    Value whole = calls.writeSlice(producer, border, interior);
    for (OpOperand *use : others)
      calls.readSlice(cast<func::CallOp>(use->getOwner()), use->getOperandNumber(), whole, interior);
    pad.replaceAllUsesWith(whole);
    pad.erase();
    return success();
  }

  LogicalResult visitConcat(tensor::ConcatOp concat) {
    auto type = cast<RankedTensorType>(concat.getResult().getType());
    SmallVector<int64_t> offsets(type.getRank(), 0);
    struct Part {
      Value value;
      func::CallOp producer;
      Slice slice;
    };
    SmallVector<Part> parts;
    for (Value input : concat.getInputs()) {
      auto shape = cast<RankedTensorType>(input.getType()).getShape();
      func::CallOp producer = input.hasOneUse() ? CallSlices::freeProducer(input) : nullptr;
      parts.push_back({input, producer, Slice::at(b, offsets, shape)});
      offsets[concat.getDim()] += shape[concat.getDim()];
    }
    for (Part &part : parts)
      if (!part.producer) {
        b.setInsertionPoint(concat);
        part.producer = copy(concat.getLoc(), part.value);
      }
    // The buffer is handed from writer to writer in the order in which they run.
    llvm::stable_sort(parts, [](const Part &x, const Part &y) {
      return x.producer != y.producer && x.producer->isBeforeInBlock(y.producer);
    });
    b.setInsertionPoint(parts.front().producer);
    Value whole = b.create<tensor::EmptyOp>(concat.getLoc(), type.getShape(), type.getElementType());
    for (Part &part : parts)
      whole = calls.writeSlice(part.producer, whole, part.slice);
    concat.replaceAllUsesWith(whole);
    concat.erase();
    return success();
  }

  LogicalResult visitSlice(tensor::ExtractSliceOp slice) {
    Slice part{slice.getMixedOffsets(), slice.getMixedSizes(), slice.getMixedStrides()};
    if (!llvm::all_of(llvm::concat<const int64_t>(slice.getStaticOffsets(), slice.getStaticSizes()),
                      [](int64_t n) { return !ShapedType::isDynamic(n); }))
      return slice->emitError("expected a slice at constant offsets");
    auto type = cast<RankedTensorType>(slice.getResult().getType());
    bool direct = readOnlyByKernels(slice.getResult(), nullptr) && type.getRank() == slice.getSourceType().getRank();
    Value reader = slice.getResult();
    if (!direct) {
      b.setInsertionPointAfter(slice);
      func::CallOp copied = copy(slice.getLoc(), slice.getResult());
      slice.getResult().replaceAllUsesExcept(copied.getResult(0), copied);
    }
    for (OpOperand &use : llvm::make_early_inc_range(reader.getUses()))
      calls.readSlice(cast<func::CallOp>(use.getOwner()), use.getOperandNumber(), slice.getSource(), part);
    slice.erase();
    return success();
  }

  /// A result needs a buffer that nothing else shares: a copy for inputs, constants, parts and second mentions.
  void placeResults() {
    Operation *ret = main.getBody().front().getTerminator();
    llvm::SmallPtrSet<Operation *, 4> taken;
    for (OpOperand &operand : ret->getOpOperands()) {
      Value value = operand.get();
      if (auto type = cast<RankedTensorType>(value.getType()); type.getNumElements() == 0) {
        b.setInsertionPoint(ret);
        operand.set(b.create<tensor::EmptyOp>(ret->getLoc(), type.getShape(), type.getElementType()));
        continue;
      }
      while (isa_and_nonnull<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(value.getDefiningOp()))
        value = value.getDefiningOp()->getOperand(0);
      Operation *buffer = ownBuffer(value);
      if (buffer && taken.insert(buffer).second)
        continue;
      b.setInsertionPoint(ret);
      operand.set(copy(ret->getLoc(), operand.get()).getResult(0));
    }
  }

  func::FuncOp main;
  ModuleOp module;
  CallSlices calls;
  OpBuilder b;
};

} // namespace

LogicalResult placeBuffers(func::FuncOp main) { return BufferPlacer(main).run(); }

} // namespace autotune
