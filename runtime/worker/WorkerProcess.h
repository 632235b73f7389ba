// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parent's side of one worker process: start it, ask it, and know how it died.
#pragma once

#include "runtime/worker/Protocol.h"
#include "runtime/worker/WorkerMain.h"

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace autotune::worker {

using Clock = std::chrono::steady_clock;

/// One request at a time. The process is started at the first request and again after each death; it is in a
/// process group of its own, so that a Ctrl-C in the terminal reaches the parent only. Not thread-safe, and
/// to be used from a thread that lives as long as the workers should: the kernel ends a worker with the
/// thread that started it.
class WorkerProcess {
public:
  /// `command`: program and arguments; the worker's options are appended.
  WorkerProcess(std::vector<std::string> command, WorkerOptions options);
  /// Kills the process.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess &) = delete;
  WorkerProcess &operator=(const WorkerProcess &) = delete;

  /// Starts the process if it is not running. Error: it cannot be started; nothing to do with any candidate.
  llvm::Error ensureRunning();
  /// Sends `request`. `what` describes it in failures ("while compiling"). Only when idle.
  llvm::Error start(const Request &request, Clock::duration limit, std::string what);
  bool busy() const { return deadline.has_value(); }
  /// Grows with each start: what an earlier process was told is forgotten.
  int generation() const { return starts; }

  /// Waits until one of the busy workers has an outcome or died or passed its deadline.
  static void waitAny(std::span<WorkerProcess *const> workers);
  /// The outcome of the request, if there is one; the worker is idle then. A worker that died or was killed
  /// for being late gives a WorkerFailure of stage "crash" or "timeout", with what it printed.
  std::optional<Reply> poll();

  int pid() const { return child; }
  /// Ends the process; a request under way is lost.
  void kill();

private:
  llvm::Error spawn();
  llvm::Error sendLine(const std::string &line);
  void readAvailable();
  /// Takes the dead child's status; text as in "killed by signal 11 (Segmentation fault)".
  std::string reap();
  WorkerFailure describeDeath(const char *stage, const std::string &how);

  std::vector<std::string> command;
  WorkerOptions options;
  int child = -1;
  int channel = -1; // a socket: requests and replies
  int errors = -1;  // its standard error
  int starts = 0;
  bool hungUp = false;
  std::string received, printed, what;
  std::optional<Clock::time_point> deadline;
  Clock::duration limit{};
};

} // namespace autotune::worker
