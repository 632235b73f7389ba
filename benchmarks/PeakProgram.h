// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A problem compiled with one schedule and loaded, on the way that every model takes.
#pragma once

#include "benchmarks/PeakProblem.h"
#include "runtime/build/ModelCompiler.h"
#include "runtime/deploy/Session.h"
#include "tuner/ModelSearch.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>
#include <string>
#include <vector>

namespace autotune::benchmarks {

/// A loaded artifact with buffers of its own, one thread.
class PeakProgram {
public:
  /// `counted[s]`: step s is part of the time. Throws deploy::RuntimeError.
  PeakProgram(const std::string &path, std::vector<bool> counted, double flops);
  /// One run; GFLOP/s over the steps that count, in time of this thread.
  double sample();

private:
  deploy::Session session;
  std::vector<bool> counted;
  double flops;
  std::vector<std::vector<float>> buffers;
  std::vector<const void *> inputs;
  std::vector<void *> outputs;
  std::vector<int64_t> stepNs, leastNs;
};

/// Makes programs of one problem. What counts is the contractions with their tails and the borders of padded
/// buffers; the conversions between plain and blocked layout at the ends do not: in a network they are not
/// there.
class ProblemCompiler {
public:
  /// Errors: the passes refuse the model.
  static llvm::Expected<std::unique_ptr<ProblemCompiler>> create(mlir::MLIRContext &context, Problem problem,
                                                                 const Device &device);
  const std::string &name() const { return problem.name; }
  /// Up to `count` schedules of the contractions, the best ones by the cost model first.
  std::vector<PredictedSchedule> schedules(size_t count) const;
  /// The artifact stays at `path`. Errors: the schedule is not legal, code generation, the linker, the
  /// loader.
  llvm::Expected<std::unique_ptr<PeakProgram>> compile(const Schedule &schedule, const std::string &path);

private:
  ProblemCompiler(Problem problem, const Device &device)
      : problem(std::move(problem)), device(device), compiler(device, 1) {}
  const Workload &contraction() const;

  Problem problem;
  Device device;
  ModelCompiler compiler;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  ModelPlan plan;
};

} // namespace autotune::benchmarks
