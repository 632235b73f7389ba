// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times regions of a model in different layouts and by different algorithms, with untuned schedules.
#pragma once

#include "tools/Benchmark.h"
#include "tools/RegionPlanner.h"
#include "tuner/Measurer.h"

#include <map>
#include <memory>
#include <utility>

namespace autotune {

class RegionTimer {
public:
  /// `compiler` keeps what it compiles: the model's kernels are mostly those of its regions. `folder` is for
  /// compiled regions.
  RegionTimer(const ImportedProfile &profile, const Knowledge &untuned, const ChoiceTarget &target,
              ModelCompiler &compiler, std::string folder)
      : planner(profile, untuned, target), untuned(untuned), target(target), compiler(compiler),
        folder(std::move(folder)) {}

  /// The time of one run of `region`, a part of `chain`; what cannot be compiled is a failure.
  Outcome measure(const LayoutChain &chain, const Region &region, const RegionChoice &choice);

private:
  llvm::Expected<std::unique_ptr<BenchmarkRun>> build(const LayoutChain &chain, const Region &region,
                                                      const RegionChoice &choice);

  RegionPlanner planner;
  const Knowledge &untuned;
  ChoiceTarget target;
  ModelCompiler &compiler;
  std::string folder;
  std::map<std::pair<std::string, RegionChoice>, std::unique_ptr<BenchmarkRun>> programs;
};

} // namespace autotune
