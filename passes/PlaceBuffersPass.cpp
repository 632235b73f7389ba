// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --autotune-place-buffers

#include "passes/MainFunction.h"
#include "passes/Passes.h"
#include "passes/PlaceBuffers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace autotune {

#define GEN_PASS_DEF_PLACEBUFFERSPASS
#include "passes/Passes.h.inc"

namespace {

struct PlaceBuffersPass : impl::PlaceBuffersPassBase<PlaceBuffersPass> {
  using PlaceBuffersPassBase::PlaceBuffersPassBase;

  void runOnOperation() override {
    mlir::func::FuncOp main = findMain(getOperation());
    if (!main || failed(placeBuffers(main)))
      signalPassFailure();
  }
};

} // namespace
} // namespace autotune
