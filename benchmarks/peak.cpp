// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// autotune-bench-peak: generated convolution and matrix product against the arithmetic peak of one core.
#include "benchmarks/KernelContext.h"
#include "benchmarks/ScheduleSearch.h"
#include "benchmarks/Statistics.h"
#include "benchmarks/TemporaryFolder.h"
#include "benchmarks/Turns.h"
#include "schedule/Errors.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace autotune::benchmarks {
namespace {

struct Options {
  size_t trials = 60;
  int rounds = 101;
  std::string json, artifacts, convolutionSchedule, matmulSchedule;
  std::vector<int> blocks;
};

/// The fastest schedule of a kernel, and its rounds beside the peak.
struct Winner {
  SearchResult search;
  double flops = 0;
  std::vector<double> gflops = {}, percents = {};

  double first() const { return flops / search.firstNs; }
  double best() const { return *std::max_element(gflops.begin(), gflops.end()); }
};

/// Two convolutions in a row, each with padding, bias and ReLU: what one convolution costs inside a network,
/// where its producer writes into the padded buffer that it reads.
std::vector<Layer> convolutionLayers() {
  Convolution conv{64, 56, 56, 64, {3, 3}, {1, 1}, {1, 1}};
  return {{conv, makeData(conv, 0)}, {conv, makeData(conv, 1)}};
}

std::vector<Layer> matmulLayers() {
  Gemm gemm{1, 512, 512, 512};
  return {{gemm, makeData(gemm, 0)}};
}

class Benchmark {
public:
  Benchmark(const Options &options, Device device) : options(options), device(std::move(device)) {
    loadKernelDialects(context);
  }

  llvm::Error run();

private:
  llvm::Error search(std::vector<Problem> problems, llvm::StringRef file, const std::string &fixedSchedule);
  void measure();
  void report() const;
  llvm::Error writeJson() const;

  const Options &options;
  Device device;
  mlir::MLIRContext context;
  std::vector<Winner> winners;
  std::vector<double> peaks;
};

llvm::Error Benchmark::search(std::vector<Problem> problems, llvm::StringRef file,
                              const std::string &fixedSchedule) {
  SearchOptions how;
  how.trials = options.trials;
  how.path = options.artifacts + "/" + file.str();
  how.verbose = true;
  if (!fixedSchedule.empty()) {
    llvm::Expected<Schedule> schedule = Schedule::parse(fixedSchedule);
    if (!schedule)
      return schedule.takeError();
    how.fixed = *schedule;
  }
  double work = 0;
  for (const Layer &layer : problems.front().layers)
    work += flops(layer.op);
  llvm::Expected<SearchResult> found = searchSchedules(context, std::move(problems), how);
  if (!found)
    return found.takeError();
  winners.push_back({std::move(*found), work});
  return llvm::Error::success();
}

void Benchmark::measure() {
  std::vector<TimedOperator *> programs;
  for (Winner &winner : winners)
    programs.push_back(winner.search.best.program.get());
  RoundSamples samples = timeInTurns(programs, {device.isa, /*threads=*/1, options.rounds});
  peaks = samples.peakGflops;
  for (auto [winner, rounds] : llvm::zip(winners, samples.ns))
    for (auto [ns, peak] : llvm::zip(rounds, peaks)) {
      winner.gflops.push_back(winner.flops / ns);
      winner.percents.push_back(100 * winner.gflops.back() / peak);
    }
}

void Benchmark::report() const {
  llvm::outs() << llvm::formatv("device {0}, one thread, {1} rounds\n", device.key(), options.rounds)
               << llvm::formatv("{0,8:f1} GFLOP/s median, {1:f1} best: fused multiply-add peak\n",
                                median(peaks), *std::max_element(peaks.begin(), peaks.end()));
  for (const Winner &winner : winners) {
    const Trial &best = winner.search.best;
    llvm::outs() << llvm::formatv("{0,8:f1} GFLOP/s median, {1:f1} best, {2:f1} % of the peak: {3}\n",
                                  median(winner.gflops), winner.best(), median(winner.percents), best.problem)
                 << llvm::formatv(
                        "         {0} (number {1} of the cost model, {2} tried; its first choice: {3:f1} "
                        "GFLOP/s)\n",
                        best.schedules, best.rank, winner.search.tried, winner.first());
  }
}

llvm::Error Benchmark::writeJson() const {
  llvm::json::Array kernels;
  for (const Winner &winner : winners)
    kernels.push_back(llvm::json::Object{
        {"kernel", winner.search.best.problem},
        {"schedule", winner.search.best.schedules},
        {"cost_model_rank", int64_t(winner.search.best.rank)},
        {"schedules_tried", int64_t(winner.search.tried)},
        {"first_choice_gflops", winner.first()},
        {"median_gflops", median(winner.gflops)},
        {"best_gflops", winner.best()},
        {"percent_of_peak", median(winner.percents)},
    });
  llvm::json::Object document{
      {"schema_version", 1},
      {"tool_version", AUTOTUNE_VERSION},
      {"device", device.key()},
      {"threads", 1},
      {"rounds", options.rounds},
      {"peak", llvm::json::Object{{"median_gflops", median(peaks)},
                                  {"best_gflops", *std::max_element(peaks.begin(), peaks.end())}}},
      {"kernels", std::move(kernels)},
  };
  std::error_code error;
  llvm::raw_fd_ostream stream(options.json, error);
  if (error)
    return llvm::createStringError(options.json + ": " + error.message());
  stream << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(document)));
  return llvm::Error::success();
}

llvm::Error Benchmark::run() {
  std::vector<int> blocks = options.blocks;
  if (blocks.empty())
    blocks = device.isa == Isa::Avx512 ? std::vector<int>{16, 32} : std::vector<int>{8, 16};
  std::vector<Problem> convolutions;
  for (int block : blocks)
    convolutions.push_back({"conv3x3 64->64 56x56, channels in blocks of " + std::to_string(block),
                            convolutionLayers(), device, block});
  if (llvm::Error error = search(std::move(convolutions), "convolution.so", options.convolutionSchedule))
    return error;
  std::vector<Problem> products = {{"matmul 512x512x512, right side constant", matmulLayers(), device}};
  if (llvm::Error error = search(std::move(products), "matmul.so", options.matmulSchedule))
    return error;
  measure();
  report();
  return options.json.empty() ? llvm::Error::success() : writeJson();
}

llvm::Error runInFolder(Options &options) {
  llvm::Expected<Device> device = detectDevice();
  if (!device)
    return device.takeError();
  if (!options.artifacts.empty()) {
    if (std::error_code error = llvm::sys::fs::create_directories(options.artifacts))
      return llvm::createStringError(options.artifacts + ": " + error.message());
    return Benchmark(options, *device).run();
  }
  TemporaryFolder folder;
  if (llvm::Error error = folder.create("autotune-bench-peak"))
    return error;
  options.artifacts = folder.name();
  return Benchmark(options, *device).run();
}

} // namespace
} // namespace autotune::benchmarks

int main(int argc, char **argv) {
  autotune::benchmarks::Options options;
  CLI::App app("Generated kernels against the arithmetic peak of one core.", "autotune-bench-peak");
  app.add_option("--trials", options.trials, "schedules to try for each kernel, the cost model's best first")
      ->capture_default_str();
  app.add_option("--rounds", options.rounds, "measurements of each, in turns")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--block", options.blocks, "channels in a block of the convolution's layout (8, 16, 32)");
  app.add_option("--conv-schedule", options.convolutionSchedule, "this schedule instead of a search");
  app.add_option("--matmul-schedule", options.matmulSchedule, "this schedule instead of a search");
  app.add_option("--artifacts", options.artifacts, "keep the fastest artifacts in this folder");
  app.add_option("--json", options.json, "write the result to this file");
  CLI11_PARSE(app, argc, argv);
  if (llvm::Error error = autotune::benchmarks::runInFolder(options)) {
    llvm::errs() << "autotune-bench-peak: " << llvm::toString(std::move(error)) << '\n';
    return 1;
  }
  return 0;
}
