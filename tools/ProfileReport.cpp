// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/ProfileReport.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace autotune {
namespace {

using llvm::json::Array;
using llvm::json::Object;

/// Kernels that have nothing to choose are borders of padded buffers and copies between layouts.
std::string kindText(const deploy::KernelSpec &kernel) {
  return kernel.kind.empty() ? "border or copy" : kernel.kind;
}

std::string nameText(const KernelProfile &row) {
  auto named = llvm::find_if(row.labels, [](const std::string &label) { return !label.empty(); });
  return named == row.labels.end() ? "-" : *named;
}

/// Blank where nothing is known.
std::string number(double value, int decimals) {
  if (value <= 0)
    return "";
  return llvm::formatv(("{0:f" + std::to_string(decimals) + "}").c_str(), value).str();
}

double shareOf(const ModelProfile &profile, double ns) {
  double all = profile.stepsNs();
  return all > 0 ? 100 * ns / all : 0;
}

double peakPercent(const ModelProfile &profile, const KernelProfile &row) {
  return profile.peakGflops > 0 ? 100 * row.gflops() / profile.peakGflops : 0;
}

void printRow(const ModelProfile &profile, const KernelProfile &row, llvm::raw_ostream &out) {
  std::string calls = "x" + std::to_string(row.labels.size());
  std::string moved = number(double(row.kernel.bytesRead + row.kernel.bytesWritten) / 1e6, 3);
  out << llvm::formatv("{0,9:f4} {1,6:f1} {2,5} {3,8} {4,6} {5,7} {6,9}  {7,-9} {8,-22} {9}", row.ns / 1e6,
                       shareOf(profile, row.ns), calls, number(row.gflops(), 1),
                       number(peakPercent(profile, row), 0), number(row.gbs(), 1), moved,
                       row.kernel.source.empty() ? "-" : row.kernel.source, kindText(row.kernel),
                       nameText(row));
  if (!row.kernel.shapes.empty())
    out << ": " << row.kernel.shapes;
  out << "\n";
}

/// Numbers that are not known are null, so that no reader takes them for zero.
llvm::json::Value known(double value) {
  return value > 0 ? llvm::json::Value(value) : llvm::json::Value(nullptr);
}

Object kernelJson(const ModelProfile &profile, const KernelProfile &row) {
  const deploy::KernelSpec &kernel = row.kernel;
  return Object{{"kind", kindText(kernel)},
                {"class", kernel.opClass},
                {"shapes", kernel.shapes},
                {"tail", kernel.tail},
                {"schedule", kernel.schedule},
                {"schedule_source", kernel.source},
                {"calls", int64_t(row.labels.size())},
                {"nodes", Array(row.labels)},
                {"ms", row.ns / 1e6},
                {"percent", shareOf(profile, row.ns)},
                {"flops", kernel.flops},
                {"bytes_read", kernel.bytesRead},
                {"bytes_written", kernel.bytesWritten},
                {"scratch_bytes", int64_t(kernel.scratchBytes)},
                {"gflops_per_s", known(row.gflops())},
                {"percent_of_peak", known(peakPercent(profile, row))},
                {"gb_per_s", known(row.gbs())}};
}

} // namespace

void printProfile(const std::string &path, const ModelProfile &profile, size_t rows, llvm::raw_ostream &out) {
  out << llvm::formatv("{0}: median {1:f3} ms, min {2:f3}, p90 {3:f3}; {4} runs, {5} thread{6}\n", path,
                       profile.latency.medianMs, profile.latency.minMs, profile.latency.p90Ms, profile.runs,
                       profile.threads, profile.threads == 1 ? "" : "s");
  out << llvm::formatv("steps: {0}, {1} kernels, {2:f3} ms in them; f32 multiply-add peak {3:f1} GFLOP/s\n",
                       profile.steps.size(), profile.kernels.size(), profile.stepsNs() / 1e6,
                       profile.peakGflops);
  out << "memory: " << profile.memory.text() << "\n\n";
  out << llvm::formatv("{0,9} {1,6} {2,5} {3,8} {4,6} {5,7} {6,9}  {7,-9} {8,-22} {9}\n", "ms", "%", "calls",
                       "GFLOP/s", "% peak", "GB/s", "MB a call", "schedule", "kernel",
                       "first node: operands");
  llvm::ArrayRef<KernelProfile> shown(profile.kernels);
  if (rows > 0)
    shown = shown.take_front(rows);
  for (const KernelProfile &row : shown)
    printRow(profile, row, out);
  double hidden = 0;
  for (const KernelProfile &row : llvm::ArrayRef(profile.kernels).drop_front(shown.size()))
    hidden += row.ns;
  if (shown.size() < profile.kernels.size())
    out << llvm::formatv("{0,9:f4} {1,6:f1}  in {2} more kernels; --rows 0 shows all\n", hidden / 1e6,
                         shareOf(profile, hidden), profile.kernels.size() - shown.size());
}

Object profileJson(const ModelProfile &profile) {
  Array kernels, steps;
  for (const KernelProfile &row : profile.kernels)
    kernels.push_back(kernelJson(profile, row));
  for (const StepProfile &step : profile.steps)
    steps.push_back(Object{{"node", step.label},
                           {"kernel", int64_t(step.kernel)},
                           {"ms", step.medianNs / 1e6},
                           {"percent", shareOf(profile, step.medianNs)}});
  Object json = benchmarkJson(profile.model, profile.threads, profile.runs, profile.latency);
  json["steps_ms"] = profile.stepsNs() / 1e6;
  json["peak_gflops_per_s"] = known(profile.peakGflops);
  json["memory"] = profile.memory.json();
  json["kernels"] = std::move(kernels);
  json["steps"] = std::move(steps);
  return json;
}

Object traceJson(const ModelProfile &profile) {
  Array events;
  events.push_back(Object{{"name", "process_name"},
                          {"ph", "M"},
                          {"pid", 1},
                          {"tid", 1},
                          {"args", Object{{"name", profile.model}}}});
  double atNs = 0;
  for (const StepProfile &step : profile.steps) {
    const deploy::KernelSpec &kernel = profile.kernels[step.kernel].kernel;
    events.push_back(Object{{"name", step.label.empty() ? kindText(kernel) : step.label},
                            {"cat", kindText(kernel)},
                            {"ph", "X"},
                            {"pid", 1},
                            {"tid", 1},
                            {"ts", atNs / 1e3},
                            {"dur", step.typicalNs / 1e3},
                            {"args", Object{{"kernel", kindText(kernel)},
                                            {"shapes", kernel.shapes},
                                            {"schedule", kernel.schedule},
                                            {"schedule_source", kernel.source}}}});
    atNs += step.typicalNs;
  }
  return Object{{"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"}};
}

} // namespace autotune
