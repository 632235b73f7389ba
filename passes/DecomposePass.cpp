// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --autotune-decompose

#include "passes/Decompose.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace autotune {

#define GEN_PASS_DEF_DECOMPOSEPASS
#include "passes/Passes.h.inc"

namespace {

struct DecomposePass : impl::DecomposePassBase<DecomposePass> {
  using DecomposePassBase::DecomposePassBase;

  void runOnOperation() override {
    if (failed(decomposeIdeas(getOperation())))
      signalPassFailure();
  }
};

} // namespace
} // namespace autotune
