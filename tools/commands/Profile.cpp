// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `autotune profile`: where the time and the memory of a model go.
#include "tools/Command.h"
#include "tools/CompileModel.h"
#include "tools/ConfigFlags.h"
#include "tools/ExitCode.h"
#include "tools/ProfileReport.h"
#include "tools/ResultFile.h"
#include "tools/RunModel.h"

#include "llvm/Support/FormatVariadic.h"

#include <CLI/CLI.hpp>

namespace autotune {
namespace {

class ProfileCommand : public Command {
public:
  llvm::StringRef name() const override { return "profile"; }
  llvm::StringRef purpose() const override { return "Shows where the time and the memory of a model go."; }

  void declare(CLI::App &app) override {
    app.add_option("model", path, "an ONNX model or a compiled one (.so)")->required();
    app.add_option("--json", json, "file for all figures");
    app.add_option("--trace", trace, "file for the steps of one run, for chrome://tracing or Perfetto");
    app.add_option("--rows", rows, "kernels to show, those that take most time; 0: all")
        ->capture_default_str();
    app.add_option("--seconds", options.seconds, "time of measuring")->capture_default_str();
    flags.declare(app, {"target.isa", "target.threads", "target.numerics", "target.input_shapes",
                        "target.input_values", "repository.directory"});
  }

  llvm::Error run() override {
    if (rows < 0)
      return usageError("--rows: found " + llvm::Twine(rows) + ", expected 0 or more");
    if (options.seconds < 0)
      return usageError("--seconds: found a negative number, expected 0 or more");
    llvm::Expected<Config> config = flags.load();
    if (!config)
      return config.takeError();
    auto model = loadOrCompile(path, *config);
    if (!model)
      return model.takeError();
    ModelProfile profile;
    if (llvm::Error error =
            catchRuntimeErrors([&] { profile = profileModel(*model, int(config->target.threads), options); }))
      return llvm::createStringError(path + ": " + llvm::toString(std::move(error)));
    printProfile(path, profile, size_t(rows), llvm::outs());
    if (llvm::Error error = write(json, profileJson(profile)))
      return error;
    return write(trace, traceJson(profile));
  }

private:
  static llvm::Error write(const std::string &file, llvm::json::Object object) {
    if (file.empty())
      return llvm::Error::success();
    return writeFileAtomically(file, llvm::formatv("{0:2}\n", llvm::json::Value(std::move(object))).str());
  }

  ConfigFlags flags;
  BenchmarkOptions options{.minRuns = 5};
  std::string path, json, trace;
  int64_t rows = 20;
};

} // namespace

std::unique_ptr<Command> makeProfileCommand() { return std::make_unique<ProfileCommand>(); }

} // namespace autotune
