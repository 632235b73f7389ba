// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles operators, makes the peer's, and times the two in turns.
#pragma once

#include "benchmarks/ScheduleSearch.h"
#include "benchmarks/operators/OperatorReport.h"
#include "schedule/Device.h"

#include "mlir/IR/MLIRContext.h"

namespace autotune::benchmarks {

/// What an operator is compared with.
enum class Peer {
  None, // only the roofline
  OneDnn,
  Direct, // our own direct kernel, for convolutions that have another algorithm
};

struct CompareOptions {
  Device device;
  int threads = 1;
  size_t trials = 1; // schedules that are tried for each operator; 1: the cost model's first choice
  int rounds = 21;
  double turnMs = 3;
  Peer peer = Peer::OneDnn;
  std::string folder; // for compiled operators
};

class OperatorComparison {
public:
  explicit OperatorComparison(CompareOptions options);
  /// Whatever goes wrong is in the result.
  OperatorResult compare(const OperatorShape &shape);

private:
  llvm::Error measure(OperatorResult &result);
  llvm::Expected<Trial> findBest(const OperatorShape &shape, const OperatorData &data,
                                 const std::string &algorithm, OperatorResult *result);

  CompareOptions options;
  mlir::MLIRContext context;
};

} // namespace autotune::benchmarks
