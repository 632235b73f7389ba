// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --autotune-outline-kernels

#include "passes/MainFunction.h"
#include "passes/OutlineKernels.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace autotune {

#define GEN_PASS_DEF_OUTLINEKERNELSPASS
#include "passes/Passes.h.inc"

namespace {

struct OutlineKernelsPass : impl::OutlineKernelsPassBase<OutlineKernelsPass> {
  using OutlineKernelsPassBase::OutlineKernelsPassBase;

  void runOnOperation() override {
    mlir::func::FuncOp main = findMain(getOperation());
    if (!main || failed(outlineKernels(main)))
      signalPassFailure();
  }
};

} // namespace
} // namespace autotune
