// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a tuning run found out: the content of result.json and the table on stdout.
#pragma once

#include "schedule/Device.h"
#include "tools/Config.h"
#include "tools/MemoryUse.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace autotune {

/// Whether a time was taken in this run or read from a record.
enum class TimeSource { Measured, Stored };

struct ModelTime {
  double ms = 0;
  TimeSource source = TimeSource::Measured;
};

struct FailureCount {
  std::string stage, reason;
  int64_t count = 0;
};

/// How many operators got their schedule from where.
struct LookupCounts {
  int64_t exact = 0, near = 0, model = 0, byDefault = 0, stale = 0;
  LookupCounts &operator+=(const LookupCounts &other);
  /// "exact 12, near 3, model 0, default 0, stale 0"
  std::string text() const;
};

struct RecordCounts {
  int64_t added = 0, improved = 0, kept = 0, rejectedAsNoise = 0;
};

/// A subgraph or an operator, before and after.
struct ResultEntry {
  std::string name, kind, key;
  std::string outcome; // "improved", "default-best", "not tuned"
  std::string choice;  // layout and algorithm, or the schedule
  std::string lookup;  // where the choice came from: "exact", "near", "model", "default", "search"
  int64_t count = 1;   // operators of the model that share it
  std::optional<double> beforeMs, afterMs; // absent: never measured
};

struct TuneResult {
  std::string model;
  Device device;
  int threads = 1;
  Modes modes;
  ModelTime untuned, tuned;
  double tuningSeconds = 0;
  int64_t measurements = 0, verifications = 0;
  std::vector<FailureCount> failures;
  LookupCounts lookup;
  RecordCounts records;
  MemoryUse memory;
  std::vector<ResultEntry> subgraphs, operators;
  bool interrupted = false;

  double speedup() const { return tuned.ms > 0 ? untuned.ms / tuned.ms : 1; }
  double latencyCutPercent() const { return untuned.ms > 0 ? 100 * (1 - tuned.ms / untuned.ms) : 0; }
};

llvm::json::Object resultJson(const TuneResult &result);

/// Writes `text` to a temporary file beside `path` and renames it, so that no reader sees half of it.
llvm::Error writeFileAtomically(llvm::StringRef path, llvm::StringRef text);

/// Before and after of the model, then of what changed most.
void printResult(const TuneResult &result, llvm::raw_ostream &out);

} // namespace autotune
