// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A call and the signature and body of its kernel change together.

#include "passes/CallSlices.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace autotune {

Slice Slice::at(OpBuilder &b, ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes) {
  Slice slice{
      getAsIndexOpFoldResult(b.getContext(), offsets), getAsIndexOpFoldResult(b.getContext(), sizes), {}};
  slice.strides.assign(offsets.size(), b.getIndexAttr(1));
  return slice;
}

CallSlices::CallSlices(func::FuncOp main) : symbols(main->getParentOfType<ModuleOp>()) {}

func::FuncOp CallSlices::kernelOf(func::CallOp call) const {
  return symbols.lookup<func::FuncOp>(call.getCallee());
}

func::CallOp CallSlices::freeProducer(Value value) {
  auto call = value.getDefiningOp<func::CallOp>();
  if (!call)
    return nullptr;
  Value dest = call.getOperands().back();
  return dest.getDefiningOp<tensor::EmptyOp>() && dest.getType() == value.getType() ? call : nullptr;
}

/// The body sees what it saw before: the part of an argument that has another type now.
Value CallSlices::sliceArgument(func::FuncOp kernel, unsigned index, Type type, const Slice &slice) {
  Value argument = kernel.getArgument(index);
  auto seen = cast<RankedTensorType>(argument.getType());
  SmallVector<Type> types(kernel.getArgumentTypes());
  types[index] = type;
  bool isDest = index + 1 == types.size();
  kernel.setType(FunctionType::get(kernel.getContext(), types, isDest ? type : kernel.getResultTypes()[0]));
  argument.setType(type);
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
  auto part = b.create<tensor::ExtractSliceOp>(kernel.getLoc(), seen, argument, slice.offsets, slice.sizes,
                                               slice.strides);
  argument.replaceAllUsesExcept(part, part);
  return argument;
}

void CallSlices::readSlice(func::CallOp call, unsigned index, Value whole, const Slice &slice) {
  sliceArgument(kernelOf(call), index, whole.getType(), slice);
  call.setOperand(index, whole);
}

Value CallSlices::writeSlice(func::CallOp call, Value whole, const Slice &slice) {
  func::FuncOp kernel = kernelOf(call);
  Value argument = sliceArgument(kernel, kernel.getNumArguments() - 1, whole.getType(), slice);
  Operation *ret = kernel.getBody().front().getTerminator();
  OpBuilder b(ret);
  Value result = b.create<tensor::InsertSliceOp>(kernel.getLoc(), ret->getOperand(0), argument, slice.offsets,
                                                 slice.sizes, slice.strides);
  ret->setOperand(0, result);
  call.setOperand(call.getNumOperands() - 1, whole);
  call.getResult(0).setType(cast<RankedTensorType>(whole.getType()));
  return call.getResult(0);
}

} // namespace autotune
