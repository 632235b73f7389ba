// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --autotune-spread-rows

#include "passes/MainFunction.h"
#include "passes/Passes.h"
#include "passes/SpreadRows.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace autotune {

#define GEN_PASS_DEF_SPREADROWSPASS
#include "passes/Passes.h.inc"

namespace {

struct SpreadRowsPass : impl::SpreadRowsPassBase<SpreadRowsPass> {
  using SpreadRowsPassBase::SpreadRowsPassBase;

  void runOnOperation() override {
    mlir::func::FuncOp main = findMain(getOperation());
    if (!main)
      return signalPassFailure();
    spreadRows(main);
  }
};

} // namespace
} // namespace autotune
