// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles operators, makes the peer's, and times the two in turns.
#pragma once

#include "benchmarks/operators/OperatorReport.h"
#include "schedule/Device.h"

#include "mlir/IR/MLIRContext.h"

namespace autotune::benchmarks {

struct CompareOptions {
  Device device;
  int threads = 1;
  size_t trials = 1; // schedules that are tried for each operator; 1: the cost model's first choice
  int rounds = 21;
  double turnMs = 3;
  bool peer = true;
  std::string folder; // for compiled operators
};

class OperatorComparison {
public:
  explicit OperatorComparison(CompareOptions options);
  /// Whatever goes wrong is in the result.
  OperatorResult compare(const OperatorShape &shape);

private:
  llvm::Error measure(OperatorResult &result);

  CompareOptions options;
  mlir::MLIRContext context;
};

} // namespace autotune::benchmarks
