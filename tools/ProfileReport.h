// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A profile as a table, as JSON and as a trace.
#pragma once

#include "tools/Profile.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace autotune {

/// The whole model (by the name of its file), its memory, and its kernels by the time they take; `rows` of
/// them, 0: all.
void printProfile(const std::string &path, const ModelProfile &profile, size_t rows, llvm::raw_ostream &out);

/// {"schema_version":1,"model",…,"latency_ms","memory","kernels":[…],"steps":[…]}
llvm::json::Object profileJson(const ModelProfile &profile);

/// The run that took the median time, in the format that chrome://tracing and Perfetto read.
llvm::json::Object traceJson(const ModelProfile &profile);

} // namespace autotune
