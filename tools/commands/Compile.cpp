// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `autotune compile`: a compiled model from a model and a repository, without measuring.
#include "tools/Command.h"
#include "tools/CompileModel.h"
#include "tools/ConfigFlags.h"

#include "llvm/Support/raw_ostream.h"

#include <CLI/CLI.hpp>

namespace autotune {
namespace {

class CompileCommand : public Command {
public:
  llvm::StringRef name() const override { return "compile"; }
  llvm::StringRef purpose() const override {
    return "Compiles a model with what a repository knows; measures nothing.";
  }

  void declare(CLI::App &app) override {
    app.add_option("model", path, "an ONNX model")->required();
    app.add_option("-o", output, "the compiled model (.so)")->required();
    app.add_flag("--require-hits", options.requireHits,
                 "fail unless every choice comes from an exact record");
    flags.declare(app, {"target.isa", "target.threads", "target.numerics", "target.input_shapes",
                        "target.input_values", "subgraph.partition", "repository.directory",
                        "repository.builtin"});
  }

  llvm::Error run() override {
    llvm::Expected<Config> config = flags.load();
    if (!config)
      return config.takeError();
    llvm::Expected<ImportedModel> model = importForTarget(path, config->target);
    if (!model)
      return model.takeError();
    llvm::Expected<CompileReport> report = compileModel(*model, *config, options, output);
    if (!report)
      return report.takeError();
    llvm::outs() << output << ": schedules from records and predictions: " << report->lookup.text() << "\n"
                 << output << ": memory: " << report->memory.text() << "\n";
    return llvm::Error::success();
  }

private:
  ConfigFlags flags;
  CompileOptions options;
  std::string path, output;
};

} // namespace

std::unique_ptr<Command> makeCompileCommand() { return std::make_unique<CompileCommand>(); }

} // namespace autotune
