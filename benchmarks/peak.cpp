// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// autotune-bench-peak: generated convolution and matrix product against the arithmetic peak of one core.
#include "benchmarks/FmaPeak.h"
#include "benchmarks/PeakProblem.h"
#include "benchmarks/PeakProgram.h"
#include "passes/Dialects.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
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

/// The fastest program found for a problem.
struct Winner {
  std::string problem;
  Schedule schedule;
  size_t rank = 0;         // 1: the cost model's first choice
  size_t compiled = 0;     // schedules tried
  double searchGflops = 0; // while searching
  double firstGflops = 0;  // of the cost model's first choice
  std::unique_ptr<PeakProgram> program;
  std::vector<double> samples;
};

double median(std::vector<double> values) {
  auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The best of a few: other load on the machine can only take speed away.
double quickGflops(PeakProgram &program) {
  double best = 0;
  for (int i = 0; i < 8; ++i)
    best = std::max(best, program.sample());
  return best;
}

class Benchmark {
public:
  Benchmark(const Options &options, Device device) : options(options), device(std::move(device)) {
    autotune::registerKernelDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  llvm::Error run();

private:
  llvm::Error search(llvm::ArrayRef<Problem> problems, llvm::StringRef file,
                     const std::string &fixedSchedule);
  llvm::Error tryProblem(const Problem &problem, size_t trials, const std::string &path,
                         const std::string &fixedSchedule, Winner &winner);
  void measure();
  void report() const;
  llvm::Error writeJson() const;
  double percent(const Winner &winner) const;

  const Options &options;
  Device device;
  mlir::DialectRegistry registry;
  mlir::MLIRContext context;
  std::vector<Winner> winners;
  std::vector<double> peaks;
};

llvm::Error Benchmark::tryProblem(const Problem &problem, size_t trials, const std::string &path,
                                  const std::string &fixedSchedule, Winner &winner) {
  auto compiler = ProblemCompiler::create(context, problem, device);
  if (!compiler)
    return compiler.takeError();
  std::vector<PredictedSchedule> schedules;
  if (fixedSchedule.empty()) {
    schedules = (*compiler)->schedules(trials);
  } else {
    llvm::Expected<Schedule> schedule = Schedule::parse(fixedSchedule);
    if (!schedule)
      return schedule.takeError();
    schedules.push_back({*schedule, 0});
  }
  for (auto [index, entry] : llvm::enumerate(schedules)) {
    std::string candidate = path + ".candidate";
    auto program = (*compiler)->compile(entry.schedule, candidate);
    if (!program)
      return program.takeError();
    double gflops = quickGflops(**program);
    ++winner.compiled;
    llvm::errs() << llvm::formatv("{0,7:f1} GFLOP/s  {1}: {2}\n", gflops, problem.name,
                                  entry.schedule.text());
    if (index == 0)
      winner.firstGflops = std::max(winner.firstGflops, gflops);
    if (gflops <= winner.searchGflops)
      continue;
    winner.problem = problem.name;
    winner.schedule = entry.schedule;
    winner.rank = index + 1;
    winner.searchGflops = gflops;
    winner.program = std::move(*program);
    if (std::error_code error = llvm::sys::fs::rename(candidate, path))
      return llvm::createStringError(path + ": " + error.message());
  }
  // The last candidate, if it did not win.
  llvm::sys::fs::remove(path + ".candidate");
  return llvm::Error::success();
}

llvm::Error Benchmark::search(llvm::ArrayRef<Problem> problems, llvm::StringRef file,
                              const std::string &fixedSchedule) {
  std::string path = options.artifacts + "/" + file.str();
  Winner winner;
  for (const Problem &problem : problems)
    if (llvm::Error error = tryProblem(problem, std::max<size_t>(1, options.trials / problems.size()), path,
                                       fixedSchedule, winner))
      return error;
  winners.push_back(std::move(winner));
  return llvm::Error::success();
}

/// In turns, so that a change of the clock or of the load meets all alike.
void Benchmark::measure() {
  for (int round = 0; round < options.rounds; ++round) {
    peaks.push_back(sampleFmaPeak(device.isa));
    for (Winner &winner : winners)
      winner.samples.push_back(winner.program->sample());
  }
}

/// Median over the rounds of the share of the same round's peak.
double Benchmark::percent(const Winner &winner) const {
  std::vector<double> shares;
  for (size_t round = 0; round < peaks.size(); ++round)
    shares.push_back(100 * winner.samples[round] / peaks[round]);
  return median(std::move(shares));
}

void Benchmark::report() const {
  llvm::outs() << llvm::formatv("device {0}, one thread, {1} rounds\n", device.key(), options.rounds)
               << llvm::formatv("{0,8:f1} GFLOP/s median, {1:f1} best: fused multiply-add peak\n",
                                median(peaks), *std::max_element(peaks.begin(), peaks.end()));
  for (const Winner &winner : winners)
    llvm::outs() << llvm::formatv("{0,8:f1} GFLOP/s median, {1:f1} best, {2:f1} % of the peak: {3}\n",
                                  median(winner.samples),
                                  *std::max_element(winner.samples.begin(), winner.samples.end()),
                                  percent(winner), winner.problem)
                 << llvm::formatv(
                        "         {0} (number {1} of the cost model, {2} tried; its first choice: {3:f1} "
                        "GFLOP/s)\n",
                        winner.schedule.text(), winner.rank, winner.compiled, winner.firstGflops);
}

llvm::Error Benchmark::writeJson() const {
  llvm::json::Array kernels;
  for (const Winner &winner : winners)
    kernels.push_back(llvm::json::Object{
        {"kernel", winner.problem},
        {"schedule", winner.schedule.text()},
        {"cost_model_rank", int64_t(winner.rank)},
        {"schedules_tried", int64_t(winner.compiled)},
        {"first_choice_gflops", winner.firstGflops},
        {"median_gflops", median(winner.samples)},
        {"best_gflops", *std::max_element(winner.samples.begin(), winner.samples.end())},
        {"percent_of_peak", percent(winner)},
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
    convolutions.push_back(convolutionProblem(block));
  if (llvm::Error error = search(convolutions, "convolution.so", options.convolutionSchedule))
    return error;
  if (llvm::Error error = search(matmulProblem(), "matmul.so", options.matmulSchedule))
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
  llvm::SmallString<128> folder;
  if (std::error_code error = llvm::sys::fs::createUniqueDirectory("autotune-bench-peak", folder))
    return llvm::createStringError("temporary folder: " + error.message());
  options.artifacts = folder.str().str();
  llvm::Error result = Benchmark(options, *device).run();
  llvm::sys::fs::remove_directories(folder);
  return result;
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
