// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tables and sentences about records.
#include "knowledge_base/Describe.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace autotune;

static std::string fixed(double value, const char *format = "%.2f") {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format(format, value);
  return text;
}

static std::string interval(const Speedup &speedup) {
  return fixed(speedup.value) + "x [" + fixed(speedup.low) + ", " + fixed(speedup.high) + "]";
}

static std::string milliseconds(const Timing &timing) {
  return fixed(timing.medianNs / 1e6, "%.4g") + " ms (spread " + fixed(timing.spreadNs / 1e6, "%.2g") +
         " ms, " + std::to_string(timing.runs) + " runs)";
}

std::string autotune::describeList(llvm::ArrayRef<StoredRecord> records, const CurrentCodegen &current) {
  std::vector<std::vector<std::string>> rows = {
      {"TYPE", "NAME", "KEY", "SPEED-UP", "OUTCOME", "DATE", "DEVICE", ""}};
  for (const StoredRecord &stored : records) {
    const RecordBase &record = base(stored.record);
    rows.push_back({folder(stored.record).str(), record.name, record.key(), interval(record.speedup),
                    outcomeName(record.outcome).str(), record.provenance.date, record.deviceKey,
                    record.isStale(current(stored.record)) ? "stale" : ""});
  }
  std::vector<size_t> widths(rows.front().size());
  for (const auto &row : rows)
    for (size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], row[column].size());
  std::string text;
  for (const auto &row : rows) {
    std::string line;
    for (size_t column = 0; column < row.size(); ++column)
      line += row[column] + std::string(widths[column] - row[column].size() + 2, ' ');
    text += llvm::StringRef(line).rtrim().str() + "\n";
  }
  return text;
}

/// "operator conv2d, key 0123…: improved …" and what follows from it.
static void describeBase(llvm::raw_ostream &stream, const StoredRecord &stored,
                         const CodegenVersion &current) {
  const RecordBase &record = base(stored.record);
  stream << stored.file << "\n"
         << folder(stored.record) << " " << record.name << ", key " << record.key() << "\n";
  if (record.outcome == SearchOutcome::Improved)
    stream << "  Tuning won: " << interval(record.speedup)
           << " over the untuned choice, measured in the same run.\n";
  else
    stream << "  Nothing that was tried beat the untuned choice outside the noise; it is kept.\n";
  stream << "  Tuned " << milliseconds(record.tuned) << ", untuned " << milliseconds(record.untuned) << ".\n"
         << "  Found on " << record.deviceKey << " at " << record.provenance.date << " after "
         << record.provenance.trials << " trials, seed " << record.provenance.seed << ".\n";
  stream << "  Passed the check '" << record.check.standard << "'";
  for (const auto &[name, value] : record.check.metrics)
    stream << ", " << name << " " << fixed(value, "%.3g");
  stream << ".\n";
  const CodegenVersion &codegen = record.provenance.codegen;
  if (record.isStale(current))
    stream << "  Stale: made with LLVM " << codegen.llvm << " and code generator " << codegen.number
           << ", this is LLVM " << current.llvm << " and code generator " << current.number
           << ". It is used, marked, and measured again when tuning.\n";
}

static void describeDecisions(llvm::raw_ostream &stream, const Decisions &decisions) {
  for (const auto &[name, value] : decisions)
    stream << " " << name << "=" << value;
}

static void describeBody(llvm::raw_ostream &stream, const OperatorRecord &record) {
  stream << "  Schedule: " << record.schedule.text() << "\n  Untuned:  " << record.untunedSchedule.text()
         << "\n";
}

static void describeBody(llvm::raw_ostream &stream, const SubgraphRecord &record) {
  stream << "  Decided:";
  describeDecisions(stream, record.decisions);
  stream << "\n  Measured:\n";
  for (const Alternative &alternative : record.alternatives) {
    stream << "   ";
    describeDecisions(stream, alternative.decisions);
    stream << ": " << milliseconds(alternative.timing) << "\n";
  }
}

static void describeBody(llvm::raw_ostream &stream, const ModelRecord &record) {
  stream << "  Accepted together: a partition and " << record.schedules.size() << " schedules.\n";
}

std::string autotune::describeRecord(const StoredRecord &stored, const CurrentCodegen &current) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  describeBase(stream, stored, current(stored.record));
  std::visit([&](const auto &record) { describeBody(stream, record); }, stored.record);
  stream << "\n" << recordText(stored.record);
  return text;
}

std::string autotune::describeDiagnostics(llvm::ArrayRef<Diagnostic> diagnostics) {
  std::string text;
  for (const Diagnostic &diagnostic : diagnostics)
    text += "skipped " + diagnostic.file + ": " + diagnostic.message + "\n";
  return text;
}
