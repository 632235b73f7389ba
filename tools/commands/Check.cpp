// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `autotune check`: the outputs of a model against given ones.
#include "frontend/OutputQuanta.h"
#include "tools/Command.h"
#include "tools/CompareTensors.h"
#include "tools/CompileModel.h"
#include "tools/ConfigFlags.h"
#include "tools/ExitCode.h"
#include "tools/RunModel.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <CLI/CLI.hpp>

namespace autotune {
namespace {

class CheckCommand : public Command {
public:
  llvm::StringRef name() const override { return "check"; }
  llvm::StringRef purpose() const override {
    return "Compares the outputs of a model with reference outputs.";
  }

  void declare(CLI::App &app) override {
    app.add_option("model", path, "an ONNX model or a compiled one (.so)")->required();
    app.add_option("--reference", folder, "folder with inputs and the outputs that are expected")->required();
    app.add_option("--quantum", quantum,
                   "float outputs stand for integers that are this far apart; by default as the model says");
    flags.declare(app, {"target.isa", "target.threads", "target.numerics", "target.input_shapes", "target.input_values",
                        "repository.directory"});
  }

  llvm::Error run() override {
    llvm::Expected<Config> config = flags.load();
    if (!config)
      return config.takeError();
    llvm::Expected<TensorFolder> reference = readTensorFolder(folder);
    if (!reference)
      return reference.takeError();
    if (reference->outputs.empty())
      return llvm::createStringError(folder + ": found no outputs, expected at least one to compare with");
    auto model = loadOrCompile(path, *config, reference->inputs);
    if (!model)
      return model.takeError();
    llvm::Expected<std::vector<HostTensor>> outputs =
        runModel(*model, int(config->target.threads), reference->inputs);
    if (!outputs)
      return llvm::createStringError(path + ": " + llvm::toString(outputs.takeError()));
    if (!isCompiledModel(path))
      quanta = readOutputQuanta(path);
    return compareAll(*outputs, reference->outputs);
  }

private:
  std::optional<double> quantumOf(llvm::StringRef output) const {
    if (quantum)
      return quantum;
    auto known = quanta.find(output);
    return known == quanta.end() ? std::nullopt : std::optional(known->second);
  }

  llvm::Error compareAll(const std::vector<HostTensor> &found,
                         const std::vector<HostTensor> &reference) const {
    std::string failures;
    bool unnamed = llvm::all_of(reference, [](const HostTensor &tensor) { return tensor.name.empty(); });
    for (auto [index, expected] : llvm::enumerate(reference)) {
      auto output = unnamed ? found.begin() + std::min<size_t>(index, found.size())
                            : llvm::find_if(found, [&, &expected = expected](const HostTensor &t) {
                                return t.name == expected.name;
                              });
      if (output == found.end())
        return llvm::createStringError(folder + ": output `" + expected.name + "` is no output of the model");
      TensorComparison result = compareTensors(*output, expected, quantumOf(output->name));
      llvm::outs() << llvm::formatv("{0}: {1}: cosine {2:f7}, max error {3:e2}, {4:e2} of the range", output->name,
                                    result.passed ? "ok" : "FAILED", result.cosine, result.maxError,
                                    result.relativeError);
      if (result.beyondQuantum > 0)
        llvm::outs() << llvm::formatv(", {0:p2} differ by more than one quantum", result.beyondQuantum);
      llvm::outs() << "\n";
      if (!result.passed)
        failures += (failures.empty() ? "" : "; ") + ("output `" + output->name + "`: " + result.reason);
    }
    return failures.empty() ? llvm::Error::success() : checkFailed(path + ": " + failures);
  }

  ConfigFlags flags;
  std::string path, folder;
  std::optional<double> quantum;
  llvm::StringMap<double> quanta;  // as the model says
};

} // namespace

std::unique_ptr<Command> makeCheckCommand() { return std::make_unique<CheckCommand>(); }

} // namespace autotune
