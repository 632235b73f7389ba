// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `autotune bench`: the latency of a model.
#include "tools/Benchmark.h"
#include "tools/Command.h"
#include "tools/CompileModel.h"
#include "tools/ConfigFlags.h"
#include "tools/ExitCode.h"
#include "tools/ResultFile.h"
#include "tools/RunModel.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <CLI/CLI.hpp>
#include <optional>

namespace autotune {
namespace {

class BenchCommand : public Command {
public:
  llvm::StringRef name() const override { return "bench"; }
  llvm::StringRef purpose() const override { return "Measures the latency of a model."; }

  void declare(CLI::App &app) override {
    app.add_option("model", path, "an ONNX model or a compiled one (.so)")->required();
    app.add_option("--json", json, "file for the figures");
    app.add_option("--baseline", baseline, "`untuned`: measure the untuned program too, in turns");
    app.add_option("--seconds", options.seconds, "time of measuring");
    flags.declare(app, {"target.isa", "target.threads", "target.numerics", "target.input_shapes", "target.input_values",
                        "repository.directory"});
  }

  llvm::Error run() override {
    if (options.seconds < 0)
      return usageError("--seconds: found a negative number, expected 0 or more");
    llvm::Expected<Config> config = flags.load();
    if (!config)
      return config.takeError();
    if (!baseline.empty() && baseline != "untuned")
      return usageError("--baseline: found `" + baseline + "`, expected untuned");
    if (!baseline.empty() && isCompiledModel(path))
      return usageError("--baseline needs the model itself, found the compiled model " + path);
    return measure(*config);
  }

private:
  llvm::Error measure(const Config &config) {
    auto model = loadOrCompile(path, config);
    if (!model)
      return model.takeError();
    std::shared_ptr<const deploy::Model> untuned;
    if (!baseline.empty()) {
      auto compiled = loadOrCompile(path, config, {}, {.ignoreRepository = true});
      if (!compiled)
        return compiled.takeError();
      untuned = *compiled;
    }
    std::vector<std::vector<double>> samples;
    int threads = 0;
    llvm::Error error = catchRuntimeErrors([&] {
      BenchmarkRun program(*model, 0, int(config.target.threads));
      std::optional<BenchmarkRun> other;
      std::vector<BenchmarkRun *> programs = {&program};
      if (untuned)
        programs.push_back(&other.emplace(untuned, 0, int(config.target.threads)));
      threads = program.threads();
      samples = timeInterleaved(programs, options);
    });
    if (error)
      return llvm::createStringError(path + ": " + llvm::toString(std::move(error)));
    return report((*model)->manifest().model, samples, threads);
  }

  llvm::Error report(const std::string &name, const std::vector<std::vector<double>> &samples,
                     int threads) const {
    Latency latency = summarize(samples[0]);
    llvm::json::Object object = benchmarkJson(name, threads, samples[0].size(), latency);
    llvm::outs() << llvm::formatv("{0}: median {1:f3} ms, min {2:f3}, p90 {3:f3}; {4} runs, {5} thread{6}\n",
                                  path, latency.medianMs, latency.minMs, latency.p90Ms, samples[0].size(),
                                  threads, threads == 1 ? "" : "s");
    if (samples.size() > 1) {
      Latency untuned = summarize(samples[1]);
      double speedup = untuned.medianMs / latency.medianMs;
      object["baseline"] = benchmarkJson(name, threads, samples[1].size(), untuned);
      object["speedup"] = speedup;
      llvm::outs() << llvm::formatv("untuned: median {0:f3} ms, min {1:f3}, p90 {2:f3}; speed-up {3:f2}x\n",
                                    untuned.medianMs, untuned.minMs, untuned.p90Ms, speedup);
    }
    if (json.empty())
      return llvm::Error::success();
    return writeFileAtomically(json, llvm::formatv("{0:2}\n", llvm::json::Value(std::move(object))).str());
  }

  ConfigFlags flags;
  BenchmarkOptions options;
  std::string path, json, baseline;
};

} // namespace

std::unique_ptr<Command> makeBenchCommand() { return std::make_unique<BenchCommand>(); }

} // namespace autotune
