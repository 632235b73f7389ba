// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --autotune-vectorize-kernel

#include "passes/Passes.h"
#include "passes/VectorizeKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace autotune {

#define GEN_PASS_DEF_VECTORIZEKERNELPASS
#include "passes/Passes.h.inc"

namespace {

struct VectorizeKernelPass : impl::VectorizeKernelPassBase<VectorizeKernelPass> {
  using VectorizeKernelPassBase::VectorizeKernelPassBase;

  void runOnOperation() override {
    if (failed(vectorizeKernel(getOperation())))
      signalPassFailure();
  }
};

} // namespace
} // namespace autotune
