// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text of `autotune repository list` and `show`.
#pragma once

#include "knowledge_base/Repository.h"

#include "llvm/ADT/ArrayRef.h"

#include <functional>
#include <string>

namespace autotune {

/// The code generator's version for a record's kind (the workload's kind, region class or model name).
using CurrentCodegen = std::function<CodegenVersion(const AnyRecord &)>;

/// One line a record under a header line: type, name, key, speed-up with interval, outcome, date, "stale" if
/// so.
std::string describeList(llvm::ArrayRef<StoredRecord> records, const CurrentCodegen &current);

/// What the record says in sentences, followed by the file's text.
std::string describeRecord(const StoredRecord &record, const CurrentCodegen &current);

/// One line a file that was skipped; empty if there is none.
std::string describeDiagnostics(llvm::ArrayRef<Diagnostic> diagnostics);

} // namespace autotune
