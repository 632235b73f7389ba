// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels are compiled side by side by oneTBB, each task with an MLIR context of its own.

#include "runtime/build/ModelCompiler.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/WithColor.h"

#include <atomic>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

namespace autotune {
namespace {

std::string nestText(const LoopNest &nest) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (const TileLoop &tile : nest.tiles)
    stream << 't' << tile.dim << ':' << tile.step << ' ';
  for (const ReductionLoop &loop : nest.reductions)
    stream << 'r' << loop.dim << ':' << loop.unroll << ' ';
  stream << (nest.parallel ? "parallel" : "serial");
  return text;
}

KernelDescription describe(const UniqueKernel &kernel, const std::string &schedule,
                           const ArtifactInfo &info) {
  KernelDescription description;
  if (!kernel.workload)
    return description;
  const Workload &workload = *kernel.workload;
  description.kind = workload.kind;
  description.opClass = opClassName(workload.opClass).str();
  description.shapes = workload.shapesText();
  description.tail = llvm::join(workload.epilogue, ", ");
  description.schedule = schedule;
  if (auto source = info.scheduleSources.find(workload.key()); source != info.scheduleSources.end())
    description.source = source->second;
  description.flops = workload.flops();
  description.bytesRead = workload.bytesRead();
  description.bytesWritten = workload.bytesWritten();
  return description;
}

} // namespace

llvm::Expected<ModelCompiler::Job> ModelCompiler::makeJob(const UniqueKernel &kernel,
                                                          const ChooseSchedule &choose) const {
  Job job;
  job.kernel = &kernel;
  std::string nest = "none";
  if (kernel.workload) {
    llvm::Expected<Schedule> schedule = choose(*kernel.workload);
    if (!schedule)
      return schedule.takeError();
    llvm::Expected<LoopNest> built = buildLoopNest(*kernel.workload, *schedule);
    if (!built)
      return built.takeError();
    job.nest = std::move(*built);
    job.schedule = schedule->text();
    job.chunks = job.nest->chunks(*kernel.workload);
    job.parallel = job.nest->parallel && kernel.workload->threads > 1;
    nest = nestText(*job.nest);
  }
  job.key = hashText(kernel.text + nest);
  return job;
}

llvm::Error ModelCompiler::compileMissing(llvm::ArrayRef<Job> all) {
  std::vector<const Job *> missing;
  std::map<std::string, bool> queued;
  for (const Job &job : all)
    if (!objects.contains(job.key) && !std::exchange(queued[job.key], true))
      missing.push_back(&job);
  unsigned lanes = unsigned(std::min<size_t>(jobs, missing.size()));
  while (compilers.size() < lanes) {
    llvm::Expected<std::unique_ptr<KernelCompiler>> compiler = KernelCompiler::create(device.isa);
    if (!compiler)
      return compiler.takeError();
    compilers.push_back(std::move(*compiler));
  }
  std::vector<std::string> errors(missing.size());
  std::vector<ObjectCode> results(missing.size());
  std::vector<char> isPlain(missing.size()); // a nest that does not work out must not cost the model
  std::atomic<size_t> next = 0;
  oneapi::tbb::task_arena arena(std::max(1u, lanes));
  arena.execute([&] {
    oneapi::tbb::parallel_for(0u, lanes, [&](unsigned lane) {
      for (size_t i = next++; i < missing.size(); i = next++) {
        const Job &job = *missing[i];
        auto compileAs = [&](const std::optional<LoopNest> &nest) {
          return compilers[lane]->compile(job.kernel->text, nest, "kernel_" + job.key, /*exported=*/false);
        };
        llvm::Expected<ObjectCode> object = compileAs(job.nest);
        if (!object) {
          errors[i] = llvm::toString(object.takeError());
          isPlain[i] = job.nest.has_value();
          if (isPlain[i])
            object = compileAs(std::nullopt);
        }
        if (object)
          results[i] = std::move(*object);
        else
          llvm::consumeError(object.takeError());
      }
    });
  });
  for (size_t i = 0; i < missing.size(); ++i) {
    std::string reason = "operator '" + missing[i]->kernel->label + "': " + errors[i];
    if (results[i].bytes.empty())
      return llvm::createStringError(llvm::inconvertibleErrorCode(), reason);
    if (isPlain[i]) {
      llvm::WithColor::warning() << reason << "; compiled as plain loops, which are slow\n";
      plain.insert(missing[i]->key);
    }
    objects[missing[i]->key] = std::move(results[i]);
  }
  return llvm::Error::success();
}

llvm::Error ModelCompiler::compile(llvm::ArrayRef<const ModelPlan *> profiles, const ChooseSchedule &choose,
                                   const ArtifactInfo &info, llvm::StringRef path) {
  std::vector<Job> all;
  std::vector<ArtifactProfile> described;
  std::map<std::string, size_t> position; // in the artifact, by job key
  std::vector<KernelBinary> binaries;
  for (const ModelPlan *plan : profiles) {
    described.push_back({plan, {}});
    for (const UniqueKernel &kernel : plan->kernels) {
      llvm::Expected<Job> job = makeJob(kernel, choose);
      if (!job)
        return job.takeError();
      auto [entry, isNew] = position.try_emplace(job->key, binaries.size());
      if (isNew)
        binaries.push_back(
            {"kernel_" + job->key, {}, job->chunks, job->parallel, describe(kernel, job->schedule, info)});
      described.back().kernels.push_back(entry->second);
      all.push_back(std::move(*job));
    }
  }
  if (llvm::Error error = compileMissing(all))
    return error;
  for (const auto &[key, index] : position) {
    binaries[index].object = objects.at(key);
    if (plain.contains(key))
      binaries[index].parallel = false; // plain loops compute everything, whatever chunks are asked for
  }
  return writeArtifact(binaries, described, info, path);
}

} // namespace autotune
