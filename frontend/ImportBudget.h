// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counts what an import has used of its limits.
#pragma once

#include "frontend/ImportLimits.h"

#include "mlir/IR/Builders.h"

#include <string>

namespace autotune {

/// Listens to the builders: every operation that they insert counts, with the bytes of its results. Nothing
/// is undone when a limit is passed; `exceeded()` then says so and the import ends.
class ImportBudget : public mlir::OpBuilder::Listener {
public:
  explicit ImportBudget(const ImportLimits &limits) : foldingSteps(limits.foldingSteps), limits(limits) {}

  /// Scalar operations that folding may still spend.
  int64_t foldingSteps;

  void countNode() { ++nodes; }
  /// False when computed constants would take more than they may; then nothing is counted.
  bool takeConstantBytes(int64_t bytes);
  int64_t constantBytesLeft() const { return limits.constantBytes - constantBytes; }
  /// What was found and what is allowed; empty when all is well.
  std::string exceeded() const;

  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint previous) override;

private:
  ImportLimits limits;
  int64_t nodes = 0, operations = 0, constantBytes = 0, runtimeBytes = 0;
  std::string impossible; // the first shape that no tensor can have
};

} // namespace autotune
