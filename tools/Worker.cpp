// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/Worker.h"

#include "runtime/build/KernelCompiler.h"
#include "runtime/worker/WorkerMain.h"
#include "tools/ExitCode.h"

#include <csignal>

namespace autotune {
namespace {

constexpr llvm::StringLiteral kSymbol = "kernel";

llvm::Expected<worker::BuiltKernel> buildKernel(KernelCompiler &compiler,
                                                const worker::BuildRequest &request) {
  worker::BuiltKernel built{request.path, kSymbol.str(), 1};
  std::optional<LoopNest> nest;
  if (request.schedule) {
    llvm::Expected<Workload> workload = Workload::parse(request.workload);
    if (!workload)
      return workload.takeError();
    llvm::Expected<Schedule> schedule = Schedule::parse(*request.schedule);
    if (!schedule)
      return schedule.takeError();
    llvm::Expected<LoopNest> loops = buildLoopNest(*workload, *schedule);
    if (!loops)
      return loops.takeError();
    nest = std::move(*loops);
    built.chunks = nest->chunks(*workload);
  }
  llvm::Expected<ObjectCode> object = compiler.compile(request.kernel, nest, kSymbol);
  if (!object)
    return object.takeError();
  if (llvm::Error error = linkSharedLibrary(*object, request.path))
    return error;
  return built;
}

} // namespace

std::vector<std::string> workerCommand(Isa isa) {
  return {"/proc/self/exe", kWorkerWord.str(), isaName(isa).str()};
}

int runWorkerProcess(llvm::ArrayRef<std::string> arguments) {
  // Ctrl-C reaches the whole process group; the parent decides when a worker ends.
  std::signal(SIGINT, SIG_IGN);
  if (arguments.empty())
    return int(reportError(usageError("`worker` is started by `autotune tune` only")));
  Isa isa = arguments.front() == isaName(Isa::Avx512) ? Isa::Avx512 : Isa::Avx2;
  // Created with the first request: a worker that only measures needs none.
  std::unique_ptr<KernelCompiler> compiler;
  return worker::runWorker(arguments.drop_front(),
                           [&](const worker::BuildRequest &request) -> llvm::Expected<worker::BuiltKernel> {
                             if (!compiler) {
                               llvm::Expected<std::unique_ptr<KernelCompiler>> created =
                                   KernelCompiler::create(isa);
                               if (!created)
                                 return created.takeError();
                               compiler = std::move(*created);
                             }
                             return buildKernel(*compiler, request);
                           });
}

} // namespace autotune
