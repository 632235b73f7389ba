// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --autotune-apply-layout

#include "dialect/AutotuneDialect.h"
#include "passes/ApplyLayout.h"
#include "passes/ExtractGraph.h"
#include "passes/MainFunction.h"
#include "passes/OpRoles.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MemoryBuffer.h"

namespace autotune {

#define GEN_PASS_DEF_APPLYLAYOUTPASS
#include "passes/Passes.h.inc"

namespace {

/// Every operator by itself, blocked where it can be.
Partition singleOperators(const Graph &graph, int block) {
  Partition partition;
  for (const GraphOperator &op : graph.operators) {
    partition.subgraphs.emplace_back().operators = {op.id};
    if (op.layout != LayoutRole::Plain)
      partition.subgraphs.back().channelBlock = block;
  }
  return partition;
}

llvm::Expected<Partition> readPartition(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return llvm::createStringError(buffer.getError(),
                                   "partition '" + path + "': " + buffer.getError().message());
  return Partition::parse((*buffer)->getBuffer());
}

struct ApplyLayoutPass : impl::ApplyLayoutPassBase<ApplyLayoutPass> {
  using ApplyLayoutPassBase::ApplyLayoutPassBase;

  void runOnOperation() override {
    mlir::func::FuncOp main = findMain(getOperation());
    if (!main)
      return signalPassFailure();
    Device device;
    if (isa != isaName(Isa::Avx2) && isa != isaName(Isa::Avx512)) {
      main.emitError("expected isa avx2 or avx512, found '") << isa << "'";
      return signalPassFailure();
    }
    device.isa = isa == isaName(Isa::Avx2) ? Isa::Avx2 : Isa::Avx512;
    // Numbering is the same on every run: doing it here gives the graph that the partition is checked
    // against.
    Graph graph = extractGraph(main);
    llvm::Expected<Partition> chosen = partition.empty()
                                           ? llvm::Expected<Partition>(singleOperators(graph, block))
                                           : readPartition(partition);
    if (!chosen) {
      main.emitError(llvm::toString(chosen.takeError()));
      return signalPassFailure();
    }
    if (llvm::Error error = chosen->verify(graph)) {
      main.emitError(llvm::toString(std::move(error)));
      return signalPassFailure();
    }
    if (failed(applyLayout(main, *chosen, device)))
      signalPassFailure();
  }
};

} // namespace
} // namespace autotune
