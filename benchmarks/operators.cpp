// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// autotune-bench-operators: operators of well-known networks, each against oneDNN and against the roofline.
#include "benchmarks/Provenance.h"
#include "benchmarks/TemporaryFolder.h"
#include "benchmarks/operators/CompareOperators.h"
#include "benchmarks/operators/OneDnn.h"
#include "benchmarks/operators/ShapeTable.h"

#include "llvm/Support/raw_ostream.h"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace autotune::benchmarks {
namespace {

struct Options {
  CompareOptions compare;
  std::string shapes, output = "benchmark_results", artifacts;
  std::vector<std::string> only;
};

bool isWanted(const OperatorShape &shape, const std::vector<std::string> &only) {
  return only.empty() || std::any_of(only.begin(), only.end(), [&](const std::string &part) {
           return shape.name.find(part) != std::string::npos || operatorGroup(shape.op) == part;
         });
}

llvm::Expected<std::vector<OperatorShape>> wantedShapes(const Options &options) {
  llvm::Expected<std::vector<OperatorShape>> shapes = readShapes(options.shapes);
  if (!shapes)
    return shapes;
  llvm::erase_if(*shapes, [&](const OperatorShape &shape) { return !isWanted(shape, options.only); });
  if (shapes->empty())
    return makeError("{0}: --only leaves no operator", options.shapes);
  return shapes;
}

OperatorReport startReport(const CompareOptions &options) {
  OperatorReport report;
  report.provenance = machineProvenance();
  bool isDirect = options.peer == Peer::Direct;
  std::string oneDnn = options.peer == Peer::OneDnn ? oneDnnVersion().value_or("absent") : "left out";
  if (isDirect) {
    report.peer = "direct";
    report.stem = "winograd";
  }
  report.provenance["device"] = options.device.key();
  report.provenance["onednn"] = oneDnn;
  report.provenance["threads"] = options.threads;
  report.provenance["trials"] = int64_t(options.trials);
  report.provenance["rounds"] = options.rounds;
  report.provenance["turn_ms"] = options.turnMs;
  report.levels = measureLevels(options.device, options.threads);
  report.heading = llvm::formatv(
      "{0} ({1}), {2} thread{3}; {4}; {5}; read bandwidth in GB/s:", *report.provenance.getString("cpu"),
      isaName(options.device.isa), options.threads, options.threads == 1 ? "" : "s",
      isDirect ? "against our direct kernels" : "oneDNN " + oneDnn, *report.provenance.getString("date"));
  for (const Bandwidth &level : report.levels)
    report.heading += llvm::formatv(" {0} {1:f0}", level.level, level.gbs);
  return report;
}

void printProgress(const OperatorResult &result) {
  llvm::errs() << result.shape.name << ": ";
  if (!result.error.empty())
    llvm::errs() << result.error << '\n';
  else if (result.speedup)
    llvm::errs() << llvm::formatv("{0:f3}\n", result.speedup->ratio);
  else
    llvm::errs() << llvm::formatv("{0:f1} us\n", result.autotune.medianNs / 1e3);
}

llvm::Error run(Options options) {
  llvm::Expected<std::vector<OperatorShape>> shapes = wantedShapes(options);
  if (!shapes)
    return shapes.takeError();
  llvm::Expected<Device> device = detectDevice();
  if (!device)
    return device.takeError();
  options.compare.device = *device;
  TemporaryFolder temporary;
  if (options.artifacts.empty()) {
    if (llvm::Error error = temporary.create("autotune-bench-operators"))
      return error;
    options.artifacts = temporary.name();
  }
  for (const std::string &folder : {options.artifacts, options.output})
    if (std::error_code error = llvm::sys::fs::create_directories(folder))
      return makeError("{0}: {1}", folder, error.message());
  options.compare.folder = options.artifacts;
  if (options.compare.peer == Peer::OneDnn && !oneDnnVersion()) {
    llvm::errs()
        << "autotune-bench-operators: built without oneDNN (libdnnl-dev); only the roofline is compared\n";
    options.compare.peer = Peer::None;
  }
  OperatorReport report = startReport(options.compare);
  OperatorComparison comparison(options.compare);
  for (const OperatorShape &shape : *shapes) {
    report.results.push_back(comparison.compare(shape));
    printProgress(report.results.back());
    // After each: what is done is kept when the run is interrupted.
    if (llvm::Error error = report.write(options.output))
      return error;
  }
  llvm::outs() << report.table();
  return llvm::Error::success();
}

} // namespace
} // namespace autotune::benchmarks

int main(int argc, char **argv) {
  using namespace autotune;
  benchmarks::Options options;
  benchmarks::CompareOptions &compare = options.compare;
  bool noPeer = false;
  std::string against = "onednn";
  CLI::App app("Operators of well-known networks against oneDNN and the roofline.",
               "autotune-bench-operators");
  app.add_option("--only", options.only,
                 "operators with this in their name, or a group: gemm, convolution, other");
  app.add_option("--threads", compare.threads, "threads of both sides")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--trials", compare.trials, "schedules to try for each operator; 1: as compiled untuned")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--rounds", compare.rounds, "rounds, each with a turn of either side")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--turn", compare.turnMs, "milliseconds of a turn")->capture_default_str();
  app.add_option("--against", against,
                 "onednn, or direct: Winograd's algorithm against our own direct kernels")
      ->capture_default_str()
      ->check(CLI::IsMember({"onednn", "direct"}));
  app.add_flag("--no-peer", noPeer, "only against the roofline");
  app.add_option("--shapes", options.shapes, "the table of operators; by default that of the peer");
  app.add_option("--output", options.output, "folder for operators.json and operators.md, or winograd.*")
      ->capture_default_str();
  app.add_option("--artifacts", options.artifacts, "keep the compiled operators in this folder");
  CLI11_PARSE(app, argc, argv);
  compare.peer = noPeer                ? benchmarks::Peer::None
                 : against == "direct" ? benchmarks::Peer::Direct
                                       : benchmarks::Peer::OneDnn;
  if (options.shapes.empty())
    options.shapes = std::string(OPERATOR_SHAPES) + (against == "direct" ? "/winograd.yaml" : "/shapes.yaml");
  if (llvm::Error error = benchmarks::run(options)) {
    llvm::errs() << "autotune-bench-operators: " << llvm::toString(std::move(error)) << '\n';
    return 1;
  }
  return 0;
}
