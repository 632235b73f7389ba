// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a few operators to compiled kernels with given schedules, on the way that every model takes.
#pragma once

#include "benchmarks/CompiledProblem.h"
#include "benchmarks/OperatorModel.h"
#include "runtime/build/ModelCompiler.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace autotune::benchmarks {

/// What is compiled, and for what.
struct Problem {
  std::string name;
  std::vector<Layer> layers;
  Device device;
  int channelBlock = 0; // of every operator on images; 0: plain
  int threads = 1;
  std::string algorithm = "direct"; // of convolutions that have a choice; empty: what the cost model picks
};

/// Schedules by workload key.
using Schedules = std::map<std::string, Schedule>;

/// Makes programs of one problem. What counts in their time is the operators, with their tails and the
/// borders of padded buffers. Conversions between plain and blocked channels at the ends do not: in a network
/// they are not there.
class ProblemCompiler {
public:
  /// Errors: the passes refuse the model.
  static llvm::Expected<std::unique_ptr<ProblemCompiler>> create(mlir::MLIRContext &context, Problem problem);
  /// With the algorithms other than the direct one.
  const std::string &name() const { return problem.name; }
  /// Up to `count` choices, the best ones by the cost model first. Each operator has its own list; one that
  /// runs out stays with its last.
  std::vector<Schedules> choices(size_t count) const;
  /// The same schedule for every contraction, the cost model's best for the rest.
  Schedules withContractions(const Schedule &schedule) const;
  /// The schedules of what counts, each once.
  std::string text(const Schedules &schedules) const;
  /// The artifact stays at `path`. Errors: a schedule is not legal, code generation, the linker, the loader.
  llvm::Expected<std::unique_ptr<CompiledProblem>> compile(const Schedules &schedules,
                                                           const std::string &path);

private:
  explicit ProblemCompiler(Problem problem)
      : problem(std::move(problem)), compiler(this->problem.device, unsigned(this->problem.threads)) {}
  std::vector<Schedule> best(const Workload &workload, size_t count) const;
  bool counts(const PlanStep &step) const;

  Problem problem;
  ModelCompiler compiler;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  ModelPlan plan;
};

} // namespace autotune::benchmarks
