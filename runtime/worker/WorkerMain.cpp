// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/worker/WorkerMain.h"

#include "runtime/worker/CandidateRunner.h"
#include "runtime/worker/WorkerLimits.h"
#include "schedule/Errors.h"

#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

namespace autotune::worker {

namespace {

constexpr int kExitProtocol = 3; // the two sides do not fit together: a bug
// Generous: the parent's own deadlines come long before.
constexpr int64_t kProcessorSecondsPerRequest = 600;
constexpr const char *kParentFlag = "--parent-pid=";
constexpr const char *kMemoryFlag = "--memory-limit=";

/// The parent's end of the line; kept apart from standard output, so that nothing printed can get into it.
class Channel {
public:
  Channel() : replies(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)) { dup2(STDERR_FILENO, STDOUT_FILENO); }
  ~Channel() { free(buffer); }
  Channel(const Channel &) = delete;
  Channel &operator=(const Channel &) = delete;

  /// False when the parent has closed its end.
  bool readLine(llvm::StringRef &line) {
    ssize_t length = getline(&buffer, &capacity, stdin);
    if (length <= 0)
      return false;
    line = llvm::StringRef(buffer, static_cast<size_t>(length)).rtrim('\n');
    return true;
  }
  bool writeLine(std::string line) {
    line += '\n';
    for (size_t at = 0; at < line.size();) {
      ssize_t written = write(replies, line.data() + at, line.size() - at);
      if (written < 0 && errno == EINTR)
        continue;
      if (written <= 0)
        return false;
      at += static_cast<size_t>(written);
    }
    return true;
  }

private:
  int replies;
  char *buffer = nullptr;
  size_t capacity = 0;
};

Reply build(const KernelBuilder &builder, const BuildRequest &request) {
  llvm::Expected<BuiltKernel> built = builder(request);
  if (!built)
    return WorkerFailure{"compile", llvm::toString(built.takeError())};
  return std::move(*built);
}

Reply serve(const Request &request, const KernelBuilder &builder, CandidateRunner &runner) {
  if (const auto *prepare = std::get_if<PrepareRequest>(&request))
    return runner.prepare(*prepare);
  if (const auto *measure = std::get_if<MeasureRequest>(&request))
    return runner.measure(*measure);
  if (const auto *confirm = std::get_if<ConfirmRequest>(&request))
    return runner.confirm(*confirm);
  return build(builder, std::get<BuildRequest>(request));
}

int fail(llvm::Error error) {
  llvm::errs() << "autotune worker: " << llvm::toString(std::move(error)) << "\n";
  return kExitProtocol;
}

} // namespace

std::vector<std::string> WorkerOptions::arguments() const {
  return {kParentFlag + std::to_string(parentPid), kMemoryFlag + std::to_string(memoryLimitBytes)};
}

llvm::Expected<WorkerOptions> WorkerOptions::parse(llvm::ArrayRef<std::string> arguments) {
  WorkerOptions options;
  for (llvm::StringRef argument : arguments) {
    llvm::StringRef value = argument;
    bool bad = true;
    if (value.consume_front(kParentFlag))
      bad = value.getAsInteger(10, options.parentPid);
    else if (value.consume_front(kMemoryFlag))
      bad = value.getAsInteger(10, options.memoryLimitBytes);
    if (bad)
      return makeError("unexpected argument '{0}' (this command is for the tool's own use)", argument);
  }
  return options;
}

int runWorker(llvm::ArrayRef<std::string> arguments, const KernelBuilder &builder) {
  llvm::Expected<WorkerOptions> options = WorkerOptions::parse(arguments);
  if (!options)
    return fail(options.takeError());
  if (llvm::Error error = confineProcess(options->parentPid, options->memoryLimitBytes))
    return fail(std::move(error));
  Channel channel;
  CandidateRunner runner(options->memoryLimitBytes);
  llvm::StringRef line;
  while (channel.readLine(line)) {
    allowProcessorSeconds(kProcessorSecondsPerRequest);
    llvm::Expected<Request> request = decodeRequest(line);
    if (!request)
      return fail(request.takeError());
    if (!channel.writeLine(encode(serve(*request, builder, runner))))
      return 0;
  }
  return 0;
}

} // namespace autotune::worker
