// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/CompileModel.h"

#include "cost_model/AnalyticalModel.h"
#include "tools/ExitCode.h"
#include "tools/RunModel.h"
#include "tools/Target.h"
#include "tuner/ModelSearch.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Path.h"

namespace autotune {

llvm::Error compileModel(const ImportedModel &model, const Config &config, const CompileOptions &options,
                         const std::string &path) {
  llvm::Expected<Device> device = targetDevice(config.target);
  if (!device)
    return device.takeError();
  int threads = targetThreads(config.target, *device);
  std::vector<ModelPlan> plans;
  for (const ImportedProfile &profile : model.profiles) {
    Partition partition;
    for (const GraphOperator &op : profile.graph.operators)
      partition.subgraphs.push_back({{op.id}});
    llvm::Expected<ModelPlan> plan =
        planModel(*profile.module, partition, {*device, threads, targetNumerics(config.target)});
    if (!plan)
      return llvm::createStringError(model.path + ": " + llvm::toString(plan.takeError()));
    plans.push_back(std::move(*plan));
  }
  AnalyticalModel cost(*device);
  ScheduleChoice choose = [&](const Workload &workload) -> llvm::Expected<Schedule> {
    return topSchedules(workload, buildSpace(workload, *device), cost, 1).front().schedule;
  };
  std::vector<const ModelPlan *> profiles;
  for (const ModelPlan &plan : plans)
    profiles.push_back(&plan);
  return ModelCompiler(*device, unsigned(device->cores))
      .compile(profiles, choose, {model.name, AUTOTUNE_VERSION, *device, threads}, path);
}

llvm::Expected<std::shared_ptr<const deploy::Model>> loadOrCompile(const std::string &path,
                                                                   const Config &config,
                                                                   const std::vector<HostTensor> &tensors,
                                                                   const CompileOptions &options) {
  if (isCompiledModel(path))
    return loadCompiledModel(path);
  llvm::Expected<ImportedModel> imported = importForTarget(path, config.target, tensors);
  if (!imported)
    return imported.takeError();
  llvm::SmallString<128> file;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile(imported->name, "so", file))
    return llvm::createStringError("temporary folder: " + error.message());
  // The file may go as soon as it is mapped.
  llvm::FileRemover remover(file);
  if (llvm::Error error = compileModel(*imported, config, options, file.str().str()))
    return std::move(error);
  return loadCompiledModel(file.str().str());
}

} // namespace autotune
