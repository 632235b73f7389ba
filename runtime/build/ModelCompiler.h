// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles the kernels of plans, each distinct one once, and writes artifacts of them.
#pragma once

#include "runtime/build/ArtifactWriter.h"
#include "runtime/build/KernelCompiler.h"
#include "runtime/build/ModelPlan.h"
#include "schedule/Schedule.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace autotune {

/// Gives the schedule of a workload; asked once for each unique kernel that has one.
using ChooseSchedule = std::function<llvm::Expected<Schedule>(const Workload &)>;

/// Keeps compiled kernels by content, so that a model rebuilt with a few other schedules costs only these.
class ModelCompiler {
public:
  /// `jobs`: kernels compiled at the same time.
  ModelCompiler(Device device, unsigned jobs) : device(std::move(device)), jobs(jobs) {}

  /// Compiles one or more plans (profiles) into the artifact at `path`.
  /// Errors: a schedule that is not legal for its workload, a kernel that does not compile (its label is
  /// named), the linker, the file system.
  llvm::Error compile(llvm::ArrayRef<const ModelPlan *> profiles, const ChooseSchedule &choose,
                      const ArtifactInfo &info, llvm::StringRef path);

private:
  struct Job {
    std::string key;
    const UniqueKernel *kernel = nullptr;
    std::optional<LoopNest> nest;
    std::string schedule;
    int64_t chunks = 1;
    bool parallel = false;
  };
  llvm::Expected<Job> makeJob(const UniqueKernel &kernel, const ChooseSchedule &choose) const;
  llvm::Error compileMissing(llvm::ArrayRef<Job> jobs);

  Device device;
  unsigned jobs;
  std::map<std::string, ObjectCode> objects;              // by job key
  std::set<std::string> plain;                            // keys whose nest did not work out
  std::vector<std::unique_ptr<KernelCompiler>> compilers; // one for each concurrent job
};

} // namespace autotune
