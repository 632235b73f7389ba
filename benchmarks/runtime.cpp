// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// autotune-bench-runtime: what the runtime adds to the kernels.
#include "benchmarks/KernelContext.h"
#include "benchmarks/Provenance.h"
#include "benchmarks/Statistics.h"
#include "benchmarks/TemporaryFolder.h"
#include "benchmarks/runtime/Calls.h"
#include "benchmarks/runtime/Figures.h"
#include "benchmarks/runtime/ForkJoin.h"
#include "benchmarks/runtime/SmallModels.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <CLI/CLI.hpp>

#include <stdexcept>

namespace autotune::benchmarks {
namespace {

constexpr int kChainKernels = 100;
constexpr int kCalls = 2000;
constexpr double kChunkNs = 10'000;

struct Options {
  int threads = 2, rounds = 21;
  std::string output = "benchmark_results";
};

class RuntimeBenchmark {
public:
  explicit RuntimeBenchmark(const Options &options) : options(options) { loadKernelDialects(context); }
  llvm::Error run();

private:
  llvm::Error compileModels(const Device &device);
  void startReport(const Device &device);
  void forkJoin();
  void calls(int threads);
  void loading();
  void sessions();
  std::string artifact(const std::string &name, int threads) const {
    return folder.name() + "/" + name + "_" + std::to_string(threads) + ".so";
  }
  void add(Figure figure) { report.figures.push_back(std::move(figure)); }

  const Options &options;
  mlir::MLIRContext context;
  TemporaryFolder folder;
  FigureReport report;
};

llvm::Error RuntimeBenchmark::compileModels(const Device &device) {
  for (int threads : {1, options.threads}) {
    if (llvm::Error error = compileChain(context, 1, {device, threads, artifact("one", threads)}))
      return error;
    if (llvm::Error error =
            compileChain(context, kChainKernels, {device, threads, artifact("chain", threads)}))
      return error;
  }
  return compileLarge(context, {device, 1, artifact("large", 1)});
}

void RuntimeBenchmark::startReport(const Device &device) {
  report.provenance = machineProvenance();
  report.provenance["device"] = device.key();
  report.provenance["threads"] = options.threads;
  report.provenance["rounds"] = options.rounds;
  report.heading = llvm::formatv("{0} ({1}), {2}", *report.provenance.getString("cpu"), isaName(device.isa),
                                 *report.provenance.getString("date"));
}

void RuntimeBenchmark::forkJoin() {
  std::vector<double> costs, shared, helped, joins, nextJoins;
  for (const ForkJoinRound &round : measureForkJoin(options.threads, kChunkNs, options.rounds)) {
    shared.push_back(round.next.sharedPercent);
    helped.push_back(round.next.helpersPercent);
    if (round.next.hasCost)
      costs.push_back(round.next.costNs / 1e3);
    if (round.next.hasCost)
      nextJoins.push_back(round.next.joinNs / 1e3);
    if (round.afterPause.hasCost)
      joins.push_back(round.afterPause.joinNs / 1e3);
  }
  auto addKnown = [&](const char *name, std::vector<double> values, const char *note) {
    if (!values.empty())
      add(Figure::of(name, "us", std::move(values), note));
  };
  std::string step = "parallel step, " + std::to_string(options.threads) + " threads";
  addKnown(step.c_str(), std::move(costs), "beyond one chunk of 10 us; steps that every thread took part in");
  add(Figure::of("such steps", "%", shared, "100: no core was busy with something else"));
  add(Figure::of("chunks that helpers computed", "%", helped,
                 llvm::formatv("{0:f0}: shared evenly", 100.0 * (options.threads - 1) / options.threads)));
  addKnown("until a helper joins, after a pause", std::move(joins),
           "it sleeps; the caller computes alone until then");
  addKnown("until a helper joins, runs in a row", std::move(nextJoins), "the first step of 10 us included");
}

void RuntimeBenchmark::calls(int threads) {
  LoadedModel oneModel = loadModel(artifact("one", threads)),
              chainModel = loadModel(artifact("chain", threads));
  ModelCalls one(oneModel.get(), threads), chain(chainModel.get(), threads);
  auto inUs = [](std::vector<double> ns) {
    for (double &value : ns)
      value /= 1e3;
    return ns;
  };
  std::string suffix = threads == 1 ? ", 1 thread" : ", session of " + std::to_string(threads) + " threads";
  add(Figure::of("call of one tiny kernel" + suffix, "us",
                 inUs(callNs(options.rounds, kCalls, [&] { one.run(); }))));
  add(Figure::of("the same on other buffers each time", "us",
                 inUs(callNs(options.rounds, kCalls, [&] { one.runOnOtherBuffers(); }))));
  add(Figure::of("the same with copies in and out", "us",
                 inUs(callNs(options.rounds, kCalls, [&] { one.runWithCopies(); }))));
  std::vector<double> perStep = callNs(options.rounds, kCalls / 10, [&] { chain.run(); });
  std::vector<double> single = callNs(options.rounds, kCalls, [&] { one.run(); });
  for (size_t i = 0; i < perStep.size(); ++i)
    perStep[i] = (perStep[i] - single[i]) / (kChainKernels - 1) / 1e3;
  add(Figure::of("step of a plan of 100 tiny kernels" + suffix, "us", perStep,
                 "the kernel included: 64 elements"));
}

void RuntimeBenchmark::loading() {
  std::vector<double> loads, firsts;
  for (int i = 0; i < options.rounds; ++i) {
    LoadTime time = timeLoad(artifact("large", 1), 1);
    loads.push_back(time.loadMs);
    firsts.push_back(time.firstRunMs);
  }
  add(Figure::of("load of 102 MB of constants", "ms", loads, "from a file that is in the page cache"));
  add(Figure::of("first run after that", "ms", firsts, "maps the pages"));
}

void RuntimeBenchmark::sessions() {
  LoadedModel model = loadModel(artifact("chain", 1));
  for (int callers : {1, 2, 4}) {
    std::vector<double> rates, processors;
    int64_t wrong = 0;
    for (int round = 0; round < options.rounds; ++round) {
      Throughput throughput = measureThroughput(model.get(), callers, 0.05);
      rates.push_back(throughput.runsPerSecond);
      processors.push_back(throughput.processors);
      wrong += throughput.wrongResults;
    }
    add(Figure::of(std::to_string(callers) + (callers == 1 ? " session" : " sessions at once, one a thread"),
                   "runs/s", rates,
                   llvm::formatv("{0} wrong results; had {1:f2} processors", wrong, median(processors))));
  }
}

llvm::Error RuntimeBenchmark::run() {
  llvm::Expected<Device> device = detectDevice();
  if (!device)
    return device.takeError();
  if (llvm::Error error = folder.create("autotune-bench-runtime"))
    return error;
  if (std::error_code error = llvm::sys::fs::create_directories(options.output))
    return makeError("{0}: {1}", options.output, error.message());
  startReport(*device);
  if (llvm::Error error = compileModels(*device))
    return error;
  try {
    forkJoin();
    calls(1);
    calls(options.threads);
    loading();
    sessions();
  } catch (const std::runtime_error &error) {
    return makeError("{0}", error.what());
  }
  llvm::outs() << report.table();
  return report.write(options.output);
}

} // namespace
} // namespace autotune::benchmarks

int main(int argc, char **argv) {
  using namespace autotune;
  benchmarks::Options options;
  CLI::App app("What the runtime adds to the kernels: calls, steps, threads, loading, sessions.",
               "autotune-bench-runtime");
  app.add_option("--threads", options.threads, "threads of parallel steps")
      ->capture_default_str()
      ->check(CLI::Range(2, 1024));
  app.add_option("--rounds", options.rounds, "rounds of each measurement")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--output", options.output, "folder for runtime.json and runtime.md")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  if (llvm::Error error = benchmarks::RuntimeBenchmark(options).run()) {
    llvm::errs() << "autotune-bench-runtime: " << llvm::toString(std::move(error)) << '\n';
    return 1;
  }
  return 0;
}
