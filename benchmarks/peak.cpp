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

/// A schedule that was compiled.
struct Trial {
  std::string problem;
  Schedule schedule;
  size_t rank = 0;        // 1: the cost model's first choice
  double quickGflops = 0; // while searching
  std::string path;
  std::unique_ptr<PeakProgram> program;
  std::vector<double> samples, percents; // GFLOP/s of each round, and their share of the same round's peak
};

/// What the search for one kernel found; `trial` is the fastest.
struct Winner {
  Trial trial;
  size_t tried = 0;
  double firstGflops = 0; // of the cost model's first choice
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

constexpr size_t kFinalists = 8;
constexpr int kFinalRounds = 31;

/// The best trials so far. A quick look cannot tell neighbours apart on a busy machine: the final decides.
struct Search {
  std::string path;
  std::vector<Trial> finalists = {};
  size_t tried = 0;
  double firstGflops = 0;

  void add(Trial trial) {
    finalists.push_back(std::move(trial));
    if (finalists.size() <= kFinalists)
      return;
    auto worst = llvm::min_element(
        finalists, [](const Trial &a, const Trial &b) { return a.quickGflops < b.quickGflops; });
    llvm::sys::fs::remove(worst->path);
    finalists.erase(worst);
  }
};

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
  llvm::Error tryProblem(const Problem &problem, size_t trials, const std::string &fixedSchedule,
                         Search &search);
  void measure(llvm::ArrayRef<Trial *> trials, int rounds, std::vector<double> &peaks);
  void report() const;
  llvm::Error writeJson() const;

  const Options &options;
  Device device;
  mlir::DialectRegistry registry;
  mlir::MLIRContext context;
  std::vector<Winner> winners;
  std::vector<double> peaks;
};

llvm::Error Benchmark::tryProblem(const Problem &problem, size_t trials, const std::string &fixedSchedule,
                                  Search &search) {
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
    Trial trial{problem.name, entry.schedule, index + 1};
    trial.path = search.path + "." + std::to_string(search.tried++);
    auto program = (*compiler)->compile(entry.schedule, trial.path);
    if (!program)
      return program.takeError();
    trial.program = std::move(*program);
    trial.quickGflops = quickGflops(*trial.program);
    llvm::errs() << llvm::formatv("{0,7:f1} GFLOP/s  {1}: {2}\n", trial.quickGflops, problem.name,
                                  entry.schedule.text());
    if (index == 0)
      search.firstGflops = std::max(search.firstGflops, trial.quickGflops);
    search.add(std::move(trial));
  }
  return llvm::Error::success();
}

/// In turns, so that a change of the clock or of the load meets all alike.
void Benchmark::measure(llvm::ArrayRef<Trial *> trials, int rounds, std::vector<double> &peaks) {
  for (int round = 0; round < rounds; ++round) {
    peaks.push_back(sampleFmaPeak(device.isa));
    for (Trial *trial : trials) {
      trial->samples.push_back(trial->program->sample());
      trial->percents.push_back(100 * trial->samples.back() / peaks.back());
    }
  }
}

llvm::Error Benchmark::search(llvm::ArrayRef<Problem> problems, llvm::StringRef file,
                              const std::string &fixedSchedule) {
  Search search{options.artifacts + "/" + file.str()};
  size_t trials = std::max<size_t>(1, options.trials / problems.size());
  for (const Problem &problem : problems)
    if (llvm::Error error = tryProblem(problem, trials, fixedSchedule, search))
      return error;
  std::vector<Trial *> finalists;
  for (Trial &trial : search.finalists)
    finalists.push_back(&trial);
  std::vector<double> peaks;
  measure(finalists, kFinalRounds, peaks);
  llvm::sort(search.finalists,
             [](const Trial &a, const Trial &b) { return median(a.percents) > median(b.percents); });
  Trial &best = search.finalists.front();
  best.samples.clear();
  best.percents.clear();
  for (Trial &other : llvm::drop_begin(search.finalists))
    llvm::sys::fs::remove(other.path);
  if (std::error_code error = llvm::sys::fs::rename(best.path, search.path))
    return llvm::createStringError(search.path + ": " + error.message());
  winners.push_back({std::move(best), search.tried, search.firstGflops});
  return llvm::Error::success();
}

void Benchmark::report() const {
  llvm::outs() << llvm::formatv("device {0}, one thread, {1} rounds\n", device.key(), options.rounds)
               << llvm::formatv("{0,8:f1} GFLOP/s median, {1:f1} best: fused multiply-add peak\n",
                                median(peaks), *std::max_element(peaks.begin(), peaks.end()));
  for (const Winner &winner : winners)
    llvm::outs() << llvm::formatv("{0,8:f1} GFLOP/s median, {1:f1} best, {2:f1} % of the peak: {3}\n",
                                  median(winner.trial.samples),
                                  *std::max_element(winner.trial.samples.begin(), winner.trial.samples.end()),
                                  median(winner.trial.percents), winner.trial.problem)
                 << llvm::formatv(
                        "         {0} (number {1} of the cost model, {2} tried; its first choice: {3:f1} "
                        "GFLOP/s)\n",
                        winner.trial.schedule.text(), winner.trial.rank, winner.tried, winner.firstGflops);
}

llvm::Error Benchmark::writeJson() const {
  llvm::json::Array kernels;
  for (const Winner &winner : winners)
    kernels.push_back(llvm::json::Object{
        {"kernel", winner.trial.problem},
        {"schedule", winner.trial.schedule.text()},
        {"cost_model_rank", int64_t(winner.trial.rank)},
        {"schedules_tried", int64_t(winner.tried)},
        {"first_choice_gflops", winner.firstGflops},
        {"median_gflops", median(winner.trial.samples)},
        {"best_gflops", *std::max_element(winner.trial.samples.begin(), winner.trial.samples.end())},
        {"percent_of_peak", median(winner.trial.percents)},
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
  std::vector<Trial *> trials;
  for (Winner &winner : winners)
    trials.push_back(&winner.trial);
  measure(trials, options.rounds, peaks);
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
