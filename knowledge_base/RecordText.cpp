// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Records as text: one list of fields per type serves writing and reading.
#include "knowledge_base/Fields.h"
#include "knowledge_base/Record.h"
#include "schedule/Errors.h"
#include "schedule/Partition.h"

#include "llvm/ADT/StringExtras.h"

using namespace autotune;

static constexpr llvm::StringLiteral kOutcomeNames[] = {"improved", "default-best"};
static constexpr llvm::StringLiteral kFormatLine = "format: ";
static constexpr llvm::StringLiteral kChecksumLine = "checksum: ";

namespace autotune {

template <typename A> void fields(A &archive, Timing &timing) {
  archive.field("median_ns", timing.medianNs);
  archive.field("spread_ns", timing.spreadNs);
  archive.field("runs", timing.runs);
}

template <typename A> void fields(A &archive, Speedup &speedup) {
  archive.field("value", speedup.value);
  archive.field("low", speedup.low);
  archive.field("high", speedup.high);
}

template <typename A> void fields(A &archive, NumericalCheck &check) {
  archive.field("standard", check.standard);
  archive.field("metrics", check.metrics);
}

template <typename A> void fields(A &archive, Provenance &provenance) {
  archive.field("tool_version", provenance.toolVersion);
  archive.field("llvm_version", provenance.codegen.llvm);
  archive.field("codegen_version", provenance.codegen.number);
  archive.field("date", provenance.date);
  archive.field("seed", provenance.seed);
  archive.field("trials", provenance.trials);
}

template <typename A> void fields(A &archive, Alternative &alternative) {
  archive.field("decisions", alternative.decisions);
  archive.group("timing", alternative.timing);
}

template <typename A> static void bodyFields(A &archive, OperatorRecord &record) {
  archive.field("schedule", record.schedule);
  archive.field("untuned_schedule", record.untunedSchedule);
}

template <typename A> static void bodyFields(A &archive, SubgraphRecord &record) {
  archive.field("decisions", record.decisions);
  archive.list("alternatives", record.alternatives);
}

template <typename A> static void bodyFields(A &archive, ModelRecord &record) {
  archive.field("partition", record.partition);
  archive.field("schedules", record.schedules);
}

template <typename A, typename Record> static void recordFields(A &archive, Record &record) {
  archive.tag("format", std::to_string(kRecordFormat));
  archive.tag("record", Record::kFolder);
  archive.field("name", record.name);
  archive.field("device", record.deviceKey);
  archive.choice("outcome", record.outcome, kOutcomeNames);
  archive.group("speedup", record.speedup);
  archive.group("tuned", record.tuned);
  archive.group("untuned", record.untuned);
  archive.group("check", record.check);
  archive.group("provenance", record.provenance);
  archive.field("key_text", record.keyText);
  bodyFields(archive, record);
}

} // namespace autotune

template <typename Record> std::string autotune::recordText(const Record &record) {
  Record copy = record; // the list of fields serves reading too, so it takes no constants
  FieldWriter writer;
  recordFields(writer, copy);
  return writer.text() + kChecksumLine.str() + hashText(writer.text()) + "\n";
}

std::string autotune::recordText(const AnyRecord &record) {
  return std::visit([](const auto &value) { return recordText(value); }, record);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Checks the first line and the last; returns what is between the start and the checksum.
static llvm::Expected<llvm::StringRef> checkedContent(llvm::StringRef text) {
  llvm::StringRef first = text.split('\n').first;
  int format = 0;
  if (!first.starts_with(kFormatLine) || first.drop_front(kFormatLine.size()).getAsInteger(10, format))
    return makeError("line 1: found '{0}', expected 'format: {1}'", first.take_front(80), kRecordFormat);
  if (format != kRecordFormat)
    return makeError("line 1: found format {0}, expected format {1}", format, kRecordFormat);
  size_t last = text.rfind(("\n" + kChecksumLine).str());
  if (last == llvm::StringRef::npos)
    return makeError("found no checksum (a file cut short?), expected one in the last line");
  llvm::StringRef content = text.take_front(last + 1), line = text.drop_front(last + 1);
  std::string expected = kChecksumLine.str() + hashText(content) + "\n";
  if (line != expected)
    return makeError("found '{0}', expected '{1}' (the file was changed or damaged)",
                     line.rtrim().take_front(80), llvm::StringRef(expected).rtrim());
  return content;
}

static llvm::Error checkMeaning(const OperatorRecord &record) {
  llvm::Expected<Workload> workload = record.workload();
  if (!workload)
    return makeError("key_text: {0}", llvm::toString(workload.takeError()));
  if (workload->kind != record.name)
    return makeError("found name '{0}', expected the workload's kind '{1}'", record.name, workload->kind);
  return llvm::Error::success();
}

static llvm::Error checkMeaning(const SubgraphRecord &) { return llvm::Error::success(); }

static llvm::Error checkMeaning(const ModelRecord &record) {
  return Partition::parse(record.partition).takeError();
}

template <typename Record> llvm::Expected<Record> autotune::parseRecord(llvm::StringRef text) {
  // git may check text out with CR LF.
  std::string lines = llvm::join(llvm::split(text, "\r\n"), "\n");
  llvm::Expected<llvm::StringRef> content = checkedContent(lines);
  if (!content)
    return content.takeError();
  Record record;
  try {
    FieldReader reader(YAML::Load(content->str()));
    recordFields(reader, record);
    reader.finish();
  } catch (const std::exception &fault) {
    return makeError("{0}", fault.what());
  }
  if (!(record.speedup.value > 0))
    return makeError("found speedup {0}, expected more than 0", record.speedup.value);
  if (llvm::Error error = checkMeaning(record))
    return error;
  return record;
}

template std::string autotune::recordText(const OperatorRecord &);
template std::string autotune::recordText(const SubgraphRecord &);
template std::string autotune::recordText(const ModelRecord &);
template llvm::Expected<OperatorRecord> autotune::parseRecord(llvm::StringRef);
template llvm::Expected<SubgraphRecord> autotune::parseRecord(llvm::StringRef);
template llvm::Expected<ModelRecord> autotune::parseRecord(llvm::StringRef);
