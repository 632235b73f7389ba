// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/CompileModel.h"

#include "tools/ChooseModel.h"
#include "tools/ExitCode.h"
#include "tools/MemoryCheck.h"
#include "tools/RunModel.h"
#include "tools/Target.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"

namespace autotune {
namespace {

llvm::Expected<std::unique_ptr<Knowledge>> openKnowledge(const Config &config, const Device &device,
                                                         const CompileOptions &options) {
  if (options.ignoreRepository)
    return Knowledge::none(device);
  return Knowledge::open(config.repository, device, Knowledge::Access::Read);
}

llvm::Error missedHits(const ImportedModel &model, const ChosenProfile &chosen) {
  LookupCounts lookup = chosen.lookup();
  return checkFailed(model.path + ": expected an exact record for everything, found " +
                     llvm::Twine(lookup.exact) + " of " + llvm::Twine(chosen.schedules.size()) +
                     " workloads, " + llvm::Twine(lookup.stale) + " of them stale, and " +
                     llvm::Twine(chosen.missedRegions()) +
                     " regions without; `autotune repository explain` names them");
}

} // namespace

llvm::Expected<CompileReport> compileModel(const ImportedModel &model, const Config &config,
                                           const CompileOptions &options, const std::string &path) {
  llvm::Expected<Device> device = targetDevice(config.target);
  if (!device)
    return device.takeError();
  llvm::Expected<std::unique_ptr<Knowledge>> knowledge = openKnowledge(config, *device, options);
  if (!knowledge)
    return knowledge.takeError();
  ChoiceTarget target{targetThreads(config.target, *device), targetNumerics(config.target),
                      config.subgraph.partition};
  std::vector<ChosenProfile> profiles;
  ScheduleTable schedules;
  for (size_t i = 0; i < model.profiles.size(); ++i) {
    llvm::Expected<ChosenProfile> chosen = chooseProfile(model, i, **knowledge, target);
    if (!chosen)
      return chosen.takeError();
    if (options.requireHits && !chosen->isAllHits())
      return missedHits(model, *chosen);
    if (options.runsHere)
      if (llvm::Error error = checkMemory(model, chosen->plan))
        return error;
    schedules.insert(chosen->schedules.begin(), chosen->schedules.end());
    profiles.push_back(std::move(*chosen));
  }
  std::vector<const ModelPlan *> plans;
  CompileReport report;
  for (const ChosenProfile &profile : profiles) {
    plans.push_back(&profile.plan);
    report.lookup += profile.lookup();
    report.memory.add(profile.plan.arenaBytes, profile.plan.tensorBytes, profile.plan.constantsBytes);
  }
  ModelCompiler compiler(*device, unsigned(device->cores));
  ArtifactInfo info{model.name,     AUTOTUNE_VERSION,       *device,
                    target.threads, target.keepDenormals(), scheduleSources(schedules)};
  if (llvm::Error error = compiler.compile(plans, scheduleLookup(schedules), info, path))
    return error;
  return report;
}

llvm::Expected<std::shared_ptr<const deploy::Model>>
compileInMemory(const ImportedModel &model, const Config &config, const CompileOptions &options) {
  llvm::SmallString<128> file;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile(model.name, "so", file))
    return llvm::createStringError("temporary folder: " + error.message());
  // The file may go as soon as it is mapped.
  llvm::FileRemover remover(file);
  CompileOptions here = options;
  here.runsHere = true;
  if (llvm::Error error = compileModel(model, config, here, file.str().str()).takeError())
    return error;
  return loadCompiledModel(file.str().str());
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
  return compileInMemory(*imported, config, options);
}

} // namespace autotune
