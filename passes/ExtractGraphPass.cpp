// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --autotune-extract-graph

#include "passes/ExtractGraph.h"
#include "passes/MainFunction.h"
#include "passes/OpRoles.h"
#include "passes/Passes.h"

namespace autotune {

#define GEN_PASS_DEF_EXTRACTGRAPHPASS
#include "passes/Passes.h.inc"

namespace {

struct ExtractGraphPass : impl::ExtractGraphPassBase<ExtractGraphPass> {
  using ExtractGraphPassBase::ExtractGraphPassBase;

  void runOnOperation() override {
    mlir::func::FuncOp main = findMain(getOperation());
    if (!main)
      return signalPassFailure();
    Graph graph = extractGraph(main);
    if (!remarks)
      return;
    std::string text = graph.text();
    llvm::SmallVector<llvm::StringRef> lines; // one an operator, in the order of their numbers
    llvm::StringRef(text).split(lines, '\n');
    for (mlir::Operation &op : main.getBody().front())
      if (auto id = op.getAttrOfType<mlir::IntegerAttr>(kOperatorIdAttr))
        op.emitRemark("operator ") << lines[id.getInt()];
  }
};

} // namespace
} // namespace autotune
