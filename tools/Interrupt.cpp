// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/Interrupt.h"

#include "tools/ExitCode.h"

#include <csignal>
#include <unistd.h>

namespace autotune {
namespace {

std::atomic<bool> stopRequested = false;
static_assert(std::atomic<bool>::is_always_lock_free, "the flag is set in a signal handler");

void onSignal(int) {
  if (stopRequested.exchange(true))
    _exit(int(ExitCode::Interrupted));
}

} // namespace

const std::atomic<bool> &installInterruptHandler() {
  struct sigaction action = {};
  action.sa_handler = onSignal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  return stopRequested;
}

} // namespace autotune
