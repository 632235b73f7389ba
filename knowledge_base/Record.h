// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the knowledge base keeps for an operator, a region or a model on a device.
#pragma once

#include "schedule/Schedule.h"
#include "schedule/Workload.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace autotune {

/// Version of the record files; a file with another version is skipped with a diagnostic.
inline constexpr int kRecordFormat = 1;

/// How a finished search ended. `DefaultBest`: nothing beat the untuned choice outside the noise.
enum class SearchOutcome { Improved, DefaultBest };
llvm::StringRef outcomeName(SearchOutcome outcome); // "improved", "default-best"

/// Repeated timings of one program.
struct Timing {
  double medianNs = 0;
  double spreadNs = 0; // median absolute deviation
  int64_t runs = 0;
  bool operator==(const Timing &) const = default;
};

/// Untuned time / tuned time, with its confidence interval.
struct Speedup {
  double value = 1, low = 1, high = 1;
  bool operator==(const Speedup &) const = default;
};

/// The check that the winner passed, by the standards of the numerics setting.
struct NumericalCheck {
  std::string standard;                  // "contraction", "bit-equal", …
  std::map<std::string, double> metrics; // "max_error": 1.2e-7, …; names are words of [a-z0-9_]
  bool operator==(const NumericalCheck &) const = default;
};

/// Which code generator made the code: LLVM's version and a number raised by hand when a class's code
/// changes.
struct CodegenVersion {
  std::string llvm; // "19.1.7"
  int64_t number = 0;
  bool operator==(const CodegenVersion &) const = default;
  /// True if this is the newer one: LLVM's numbers decide, then `number`.
  bool isNewerThan(const CodegenVersion &other) const;
};

struct Provenance {
  std::string toolVersion;
  CodegenVersion codegen;
  std::string date; // ISO 8601, UTC: "2026-11-30T08:41:06Z"
  uint64_t seed = 0;
  int64_t trials = 0;
  bool operator==(const Provenance &) const = default;
};
/// The current date in the form of `Provenance::date`.
std::string currentDate();

/// What every record has.
struct RecordBase {
  std::string name;      // first part of the file name: workload kind, region class or model name
  std::string keyText;   // canonical text; its hash is the key
  std::string deviceKey; // Device::key()
  SearchOutcome outcome = SearchOutcome::DefaultBest;
  Timing tuned, untuned; // measured interleaved in one run
  Speedup speedup;
  NumericalCheck check;
  Provenance provenance;

  std::string key() const { return hashText(keyText); }
  /// Made by another code generator: a seed for tuning, marked when compiling.
  bool isStale(const CodegenVersion &current) const { return !(provenance.codegen == current); }
  bool operator==(const RecordBase &) const = default;
};

/// The winning schedule of a workload. `name` is the workload's kind, `keyText` its text.
struct OperatorRecord : RecordBase {
  static constexpr llvm::StringLiteral kFolder = "operator";
  Schedule schedule, untunedSchedule;

  OperatorRecord() = default;
  explicit OperatorRecord(const Workload &workload) {
    name = workload.kind;
    keyText = workload.text();
  }
  /// Error only if `keyText` was not made by `Workload::text`; records from a repository always parse.
  llvm::Expected<Workload> workload() const { return Workload::parse(keyText); }
  bool operator==(const OperatorRecord &) const = default;
};

/// Decisions about a region in a fixed order: {"channel_block", "8"}, {"algorithm", "direct"}, …
using Decisions = std::vector<std::pair<std::string, std::string>>;

/// One way to cut a region, and what it costs.
struct Alternative {
  Decisions decisions;
  Timing timing;
  bool operator==(const Alternative &) const = default;
};

/// What was decided for a region of the graph. `name` is its class ("conv-chain", …), `keyText` its text.
struct SubgraphRecord : RecordBase {
  static constexpr llvm::StringLiteral kFolder = "subgraph";
  Decisions decisions;                   // the winner's
  std::vector<Alternative> alternatives; // everything that was measured, the winner included
  bool operator==(const SubgraphRecord &) const = default;
};

/// Partition and schedules that were accepted together. `name` is the model's, `keyText` says content,
/// shapes, threads and numerics; `untuned` and `tuned` are whole inferences.
struct ModelRecord : RecordBase {
  static constexpr llvm::StringLiteral kFolder = "model";
  std::string partition;                     // Partition::text
  std::map<std::string, Schedule> schedules; // by workload key

  double untunedMs() const { return untuned.medianNs / 1e6; }
  double tunedMs() const { return tuned.medianNs / 1e6; }
  bool operator==(const ModelRecord &) const = default;
};

using AnyRecord = std::variant<OperatorRecord, SubgraphRecord, ModelRecord>;
const RecordBase &base(const AnyRecord &record);
llvm::StringRef folder(const AnyRecord &record);

/// The record as the text of its file; deterministic.
template <typename Record> std::string recordText(const Record &record);
std::string recordText(const AnyRecord &record);
/// Reads `recordText` back. Errors (never a crash, whatever the bytes) say what was found and what was
/// expected: wrong checksum, other format version, unknown or missing key, a key text or schedule that does
/// not parse.
template <typename Record> llvm::Expected<Record> parseRecord(llvm::StringRef text);

/// A record's name as the first part of its file name: letters that a file name should not have become '_'.
std::string fileNamePart(llvm::StringRef name);
/// "conv2d-0123456789abcdef.yaml".
std::string recordFileName(const RecordBase &record);

/// The total order of records with the same key: newer code generator, then larger speed-up, then smaller
/// hash of the text. True if `left` is to be kept. Independent of arrival, so merging commutes.
template <typename Record> bool isBetter(const Record &left, const Record &right);

} // namespace autotune
