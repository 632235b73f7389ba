// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The worker process: builds, checks and times kernels on request, so that what they break is its own.
#pragma once

#include "runtime/worker/Protocol.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <functional>
#include <string>

namespace autotune::worker {

/// Compiles a request into a shared library at `request.path`. Errors become failures of stage "compile".
using KernelBuilder = std::function<llvm::Expected<BuiltKernel>(const BuildRequest &request)>;

/// What the parent passes on the command line.
struct WorkerOptions {
  int parentPid = 0;            // the worker dies with it
  int64_t memoryLimitBytes = 0; // of address space; 0: none

  std::vector<std::string> arguments() const;
  /// Errors name the argument.
  static llvm::Expected<WorkerOptions> parse(llvm::ArrayRef<std::string> arguments);
};

/// Serves requests from standard input until it ends; replies go to what standard output was, and everything
/// that is printed goes to standard error. Returns the exit code. `arguments` are those behind the program's
/// own words
/// (`autotune worker`). Call it before any thread is started.
int runWorker(llvm::ArrayRef<std::string> arguments, const KernelBuilder &builder);

} // namespace autotune::worker
