// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --autotune-lower-kernel

#include "passes/LowerKernel.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace autotune {

#define GEN_PASS_DEF_LOWERKERNELPASS
#include "passes/Passes.h.inc"

namespace {

struct LowerKernelPass : impl::LowerKernelPassBase<LowerKernelPass> {
  using LowerKernelPassBase::LowerKernelPassBase;

  void runOnOperation() override {
    if (failed(lowerKernelToLlvm(getOperation())))
      signalPassFailure();
  }
};

} // namespace
} // namespace autotune
