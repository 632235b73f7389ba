// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `autotune run`: one inference on tensors from files.
#include "tools/Command.h"
#include "tools/CompileModel.h"
#include "tools/ConfigFlags.h"
#include "tools/ExitCode.h"
#include "tools/RunModel.h"

#include <CLI/CLI.hpp>

namespace autotune {
namespace {

class RunCommand : public Command {
public:
  llvm::StringRef name() const override { return "run"; }
  llvm::StringRef purpose() const override {
    return "Runs a model once on tensors from files (.npy or ONNX .pb).";
  }

  void declare(CLI::App &app) override {
    app.add_option("model", path, "an ONNX model or a compiled one (.so)")->required();
    app.add_option("--inputs", folder,
                   "folder with the inputs: manifest.json and .npy files, or ONNX test data");
    app.add_option("--input", files, "NAME=FILE, one input; repeatable")->allow_extra_args(false);
    app.add_option("--output", output, "folder for output_<i>.npy and their manifest")->required();
    flags.declare(app, {"target.isa", "target.threads", "target.numerics", "target.input_shapes", "target.input_values",
                        "repository.directory"});
  }

  llvm::Error run() override {
    llvm::Expected<Config> config = flags.load();
    if (!config)
      return config.takeError();
    llvm::Expected<std::vector<HostTensor>> inputs = readInputs();
    if (!inputs)
      return inputs.takeError();
    auto model = loadOrCompile(path, *config, *inputs);
    if (!model)
      return model.takeError();
    llvm::Expected<std::vector<HostTensor>> outputs = runModel(*model, int(config->target.threads), *inputs);
    if (!outputs)
      return llvm::createStringError(path + ": " + llvm::toString(outputs.takeError()));
    return writeTensorFolder(output, {{}, std::move(*outputs)});
  }

private:
  llvm::Expected<std::vector<HostTensor>> readInputs() const {
    if (folder.empty() == files.empty())
      return usageError("expected either --inputs or --input");
    if (!folder.empty()) {
      llvm::Expected<TensorFolder> tensors = readTensorFolder(folder);
      if (!tensors)
        return tensors.takeError();
      return std::move(tensors->inputs);
    }
    std::vector<HostTensor> inputs;
    for (llvm::StringRef entry : files) {
      auto [name, file] = entry.rsplit('=');
      if (name.empty() || file.empty())
        return usageError("--input: found `" + entry + "`, expected NAME=FILE");
      llvm::Expected<HostTensor> tensor = readTensorFile(file);
      if (!tensor)
        return tensor.takeError();
      tensor->name = name.str();
      inputs.push_back(std::move(*tensor));
    }
    return inputs;
  }

  ConfigFlags flags;
  std::string path, folder, output;
  std::vector<std::string> files;
};

} // namespace

std::unique_ptr<Command> makeRunCommand() { return std::make_unique<RunCommand>(); }

} // namespace autotune
