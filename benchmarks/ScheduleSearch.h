// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fastest of the schedules that the cost model likes best.
#pragma once

#include "benchmarks/ProblemCompiler.h"

#include <optional>

namespace autotune::benchmarks {

/// A choice of schedules that was compiled.
struct Trial {
  std::string problem, schedules; // in words
  size_t rank = 0;                // 1: the cost model's first choice
  double quickNs = 0;             // while searching
  std::string path;
  std::unique_ptr<CompiledProblem> program;
};

struct SearchOptions {
  size_t trials = 1;             // over all problems
  int threads = 1;               // those of the problems
  int finalRounds = 31;          // of the eight that look best
  std::optional<Schedule> fixed; // for every contraction, instead of a search
  std::string path;              // the winner's artifact
  bool verbose = false;          // a line on stderr for each trial
};

struct SearchResult {
  Trial best;
  size_t tried = 0;
  double firstNs = 0; // of the cost model's first choice, the best of the problems
};

/// `problems` are different forms of one (layouts); not empty.
llvm::Expected<SearchResult> searchSchedules(mlir::MLIRContext &context, std::vector<Problem> problems,
                                             const SearchOptions &options);

} // namespace autotune::benchmarks
