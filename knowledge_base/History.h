// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every measurement and failure ever made on this machine: a local SQLite file, never shipped.
#pragma once

#include "knowledge_base/Record.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

struct sqlite3;

namespace autotune {

/// Why a candidate has no time.
struct TrialFailure {
  std::string stage;  // "apply", "compile", "run", "check", …
  std::string reason; // the worker's words, stderr included
  bool operator==(const TrialFailure &) const = default;
};

/// One candidate and how it ended.
struct Trial {
  std::string workloadText; // Workload::text, or the canonical text of a region
  Schedule schedule;
  std::string deviceKey;
  std::variant<Timing, TrialFailure> outcome;
  CodegenVersion codegen;
  std::string toolVersion;
  std::string date;

  std::string workloadKey() const { return hashText(workloadText); }
  bool operator==(const Trial &) const = default;
};

/// Fields that are absent do not restrict.
struct TrialFilter {
  std::optional<std::string> workloadKey, deviceKey;
  std::optional<CodegenVersion> codegen;
  bool measurementsOnly = false;
  std::optional<int64_t> newest; // only so many, the newest
};

/// How often trials ended one way. A measurement has empty stage and reason.
struct TrialCount {
  std::string stage, reason;
  int64_t count = 0;
};

/// Several processes may use one file; one History serves one thread at a time.
class History {
public:
  /// Makes the file and its folders if absent. Errors: unwritable, not a SQLite database, another program's
  /// database, other version.
  static llvm::Expected<History> open(llvm::StringRef path);

  /// All or nothing, on disk when it returns.
  llvm::Error add(llvm::ArrayRef<Trial> trials);
  /// In the order they were added. A killed run reads here what it need not measure again.
  llvm::Expected<std::vector<Trial>> query(const TrialFilter &filter) const;
  llvm::Expected<int64_t> count(const TrialFilter &filter) const;
  /// Measurements, then failures by stage and reason (its first line), most frequent first.
  llvm::Expected<std::vector<TrialCount>> summary() const;

private:
  struct Close {
    void operator()(sqlite3 *database) const;
  };
  History(std::string path, sqlite3 *database) : path(std::move(path)), database(database) {}

  std::string path;
  std::unique_ptr<sqlite3, Close> database;
};

} // namespace autotune
