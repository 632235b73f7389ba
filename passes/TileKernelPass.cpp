// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --autotune-tile-kernel

#include "passes/Passes.h"
#include "passes/TileNest.h"
#include "passes/WholeIdeas.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace autotune {

#define GEN_PASS_DEF_TILEKERNELPASS
#include "passes/Passes.h.inc"

namespace {

/// "DIM:NUMBER".
std::optional<std::pair<int, int64_t>> parsePair(llvm::StringRef text) {
  auto [dimText, numberText] = text.split(':');
  int dim = 0;
  int64_t number = 0;
  if (dimText.getAsInteger(10, dim) || numberText.getAsInteger(10, number))
    return std::nullopt;
  return std::pair(dim, number);
}

struct TileKernelPass : impl::TileKernelPassBase<TileKernelPass> {
  using TileKernelPassBase::TileKernelPassBase;

  void runOnOperation() override {
    mlir::func::FuncOp kernel = getOperation();
    LoopNest nest;
    nest.parallel = parallel;
    for (const std::string &text : tiles) {
      auto pair = parsePair(text);
      if (!pair)
        return fail("expected tiles as DIM:STEP, found '" + text + "'");
      nest.tiles.push_back({pair->first, pair->second});
    }
    for (const std::string &text : reductions) {
      auto pair = parsePair(text);
      if (!pair)
        return fail("expected reductions as DIM:UNROLL, found '" + text + "'");
      nest.reductions.push_back({pair->first, pair->second});
    }
    mlir::Operation *idea = wholeIdea(kernel);
    if (failed(idea ? emitIdea(kernel, idea, nest) : tileToNest(kernel, nest)))
      signalPassFailure();
  }

private:
  void fail(const llvm::Twine &message) {
    getOperation().emitError(message);
    signalPassFailure();
  }
};

} // namespace
} // namespace autotune
