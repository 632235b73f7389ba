// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The worker process of `autotune`: the same program, started anew to compile and time candidates.
#pragma once

#include "schedule/Device.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <vector>

namespace autotune {

/// The first word of a worker's command line. It is no command for users.
inline constexpr llvm::StringLiteral kWorkerWord = "worker";

/// Starts this program as a worker for `isa`; the parent's options are appended.
std::vector<std::string> workerCommand(Isa isa);

/// `arguments` behind `kWorkerWord`. Returns the exit code.
int runWorkerProcess(llvm::ArrayRef<std::string> arguments);

} // namespace autotune
