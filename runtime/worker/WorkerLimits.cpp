// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/worker/WorkerLimits.h"

#include "schedule/Errors.h"

#include <algorithm>
#include <csignal>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

// A sanitizer reserves terabytes of address space.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define AUTOTUNE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define AUTOTUNE_SANITIZED 1
#endif
#endif

namespace autotune::worker {

namespace {

void setSoftLimit(__rlimit_resource resource, rlim_t soft) {
  rlimit limit;
  if (getrlimit(resource, &limit) != 0)
    return;
  limit.rlim_cur = limit.rlim_max == RLIM_INFINITY ? soft : std::min(soft, limit.rlim_max);
  (void)setrlimit(resource, &limit); // a limit that cannot be set leaves the parent's own watch
}

} // namespace

llvm::Error confineProcess(int parentPid, int64_t memoryLimitBytes) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // It may have died before the line above.
  if (parentPid != 0 && getppid() != parentPid)
    return makeError("the parent process {0} is gone", parentPid);
  setSoftLimit(RLIMIT_CORE, 0);
#ifdef AUTOTUNE_SANITIZED
  // A sanitizer's own handlers would turn a death by signal into an exit code.
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    (void)signal(number, SIG_DFL);
#else
  if (memoryLimitBytes > 0)
    setSoftLimit(RLIMIT_AS, static_cast<rlim_t>(memoryLimitBytes));
#endif
  return llvm::Error::success();
}

void allowProcessorSeconds(int64_t seconds) {
  rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) != 0)
    return;
  setSoftLimit(RLIMIT_CPU, static_cast<rlim_t>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + 1 + seconds));
}

} // namespace autotune::worker
