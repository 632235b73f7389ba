// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What keeps a worker process from harming the machine.
#pragma once

#include "llvm/Support/Error.h"

#include <cstdint>

namespace autotune::worker {

/// Dies with the parent, leaves no core files, and may not use more address space than `memoryLimitBytes` (0:
/// any). Error: the parent is gone already.
llvm::Error confineProcess(int parentPid, int64_t memoryLimitBytes);

/// Lets this process use at most `seconds` more processor time (all threads together): the last defence
/// against a kernel that never ends, if the parent is stopped and cannot kill.
void allowProcessorSeconds(int64_t seconds);

} // namespace autotune::worker
