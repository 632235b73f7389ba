// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/ResultFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

namespace autotune {
namespace {

using llvm::json::Array;
using llvm::json::Object;

constexpr size_t kTableRows = 10;

llvm::StringRef sourceName(TimeSource source) {
  return source == TimeSource::Measured ? "measured" : "stored";
}

Object entryJson(const ResultEntry &entry) {
  Object json{{"name", entry.name},       {"kind", entry.kind},     {"key", entry.key},
              {"outcome", entry.outcome}, {"choice", entry.choice}, {"lookup", entry.lookup},
              {"count", entry.count}};
  json["before_ms"] = entry.beforeMs ? llvm::json::Value(*entry.beforeMs) : nullptr;
  json["after_ms"] = entry.afterMs ? llvm::json::Value(*entry.afterMs) : nullptr;
  return json;
}

Array entriesJson(const std::vector<ResultEntry> &entries) {
  Array json;
  for (const ResultEntry &entry : entries)
    json.push_back(entryJson(entry));
  return json;
}

Array modesJson(const Modes &modes) {
  Array json;
  if (modes.subgraph)
    json.push_back("subgraph");
  if (modes.operators)
    json.push_back("operator");
  return json;
}

/// Time that an entry saves in the whole model.
double savedMs(const ResultEntry &entry) {
  return entry.beforeMs && entry.afterMs ? (*entry.beforeMs - *entry.afterMs) * double(entry.count) : 0;
}

void printEntries(const std::vector<ResultEntry> &entries, llvm::raw_ostream &out) {
  std::vector<const ResultEntry *> rows;
  for (const ResultEntry &entry : entries)
    if (savedMs(entry) > 0)
      rows.push_back(&entry);
  llvm::sort(rows, [](const ResultEntry *a, const ResultEntry *b) {
    return std::pair(-savedMs(*a), a) < std::pair(-savedMs(*b), b);
  });
  for (const ResultEntry *row : llvm::ArrayRef(rows).take_front(kTableRows))
    out << llvm::formatv("  {0,-28} {1,9:f4} {2,9:f4} {3,7:f2}x  {4}\n",
                         llvm::StringRef(row->name).take_back(28), *row->beforeMs, *row->afterMs,
                         *row->beforeMs / *row->afterMs,
                         row->kind + (row->count > 1 ? " ×" + std::to_string(row->count) : ""));
  if (rows.size() > kTableRows)
    out << llvm::formatv("  … and {0} more in result.json\n", rows.size() - kTableRows);
}

} // namespace

LookupCounts &LookupCounts::operator+=(const LookupCounts &other) {
  exact += other.exact;
  near += other.near;
  model += other.model;
  byDefault += other.byDefault;
  stale += other.stale;
  return *this;
}

std::string LookupCounts::text() const {
  return llvm::formatv("exact {0}, near {1}, model {2}, default {3}, stale {4}", exact, near, model,
                       byDefault, stale);
}

Object resultJson(const TuneResult &result) {
  Array failures;
  for (const FailureCount &failure : result.failures)
    failures.push_back(
        Object{{"stage", failure.stage}, {"reason", failure.reason}, {"count", failure.count}});
  const LookupCounts &lookup = result.lookup;
  const RecordCounts &records = result.records;
  return Object{
      {"schema_version", 1},
      {"model", result.model},
      {"device", Object{{"key", result.device.key()},
                        {"isa", isaName(result.device.isa)},
                        {"cores", result.device.cores}}},
      {"threads", result.threads},
      {"modes", modesJson(result.modes)},
      {"interrupted", result.interrupted},
      {"untuned_ms", result.untuned.ms},
      {"untuned_source", sourceName(result.untuned.source)},
      {"tuned_ms", result.tuned.ms},
      {"tuned_source", sourceName(result.tuned.source)},
      {"speedup", result.speedup()},
      {"latency_cut_percent", result.latencyCutPercent()},
      {"tuning_seconds", result.tuningSeconds},
      {"measurements", result.measurements},
      {"verifications", result.verifications},
      {"failures", std::move(failures)},
      {"lookup", Object{{"exact", lookup.exact},
                        {"near", lookup.near},
                        {"model", lookup.model},
                        {"default", lookup.byDefault},
                        {"stale", lookup.stale}}},
      {"records", Object{{"added", records.added},
                         {"improved", records.improved},
                         {"kept", records.kept},
                         {"rejected_as_noise", records.rejectedAsNoise}}},
      {"memory", result.memory.json()},
      {"subgraphs", entriesJson(result.subgraphs)},
      {"operators", entriesJson(result.operators)},
  };
}

llvm::Error writeFileAtomically(llvm::StringRef path, llvm::StringRef text) {
  llvm::Error error = llvm::writeToOutput(path, [&](llvm::raw_ostream &out) {
    out << text;
    return llvm::Error::success();
  });
  if (error)
    return llvm::createStringError(path + ": cannot write: " + llvm::toString(std::move(error)));
  return llvm::Error::success();
}

void printResult(const TuneResult &result, llvm::raw_ostream &out) {
  out << llvm::formatv("{0,-30} {1,9} {2,9} {3,8}\n", result.model, "before", "after", "speed-up");
  out << llvm::formatv(
      "  {0,-28} {1,9:f4} {2,9:f4} {3,7:f2}x  ms a run, {4} thread{5} ({6}, {7}); latency cut {8:f1} %\n",
      "whole model", result.untuned.ms, result.tuned.ms, result.speedup(), result.threads,
      result.threads == 1 ? "" : "s", sourceName(result.untuned.source), sourceName(result.tuned.source),
      result.latencyCutPercent());
  printEntries(result.subgraphs, out);
  printEntries(result.operators, out);
  int64_t failures = 0;
  for (const FailureCount &failure : result.failures)
    failures += failure.count;
  out << llvm::formatv(
      "{0} candidates measured, {1} failed, {2:f1} s; records: {3} added, {4} improved, {5} kept\n",
      result.measurements, failures, result.tuningSeconds, result.records.added, result.records.improved,
      result.records.kept);
}

} // namespace autotune
