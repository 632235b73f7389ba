// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `autotune repository list|show|explain`: what a repository holds, and what a model gets from it.
#include "knowledge_base/Describe.h"
#include "tools/ChooseModel.h"
#include "tools/Codegen.h"
#include "tools/Command.h"
#include "tools/ConfigFlags.h"
#include "tools/Target.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <CLI/CLI.hpp>

namespace autotune {
namespace {

CodegenVersion codegenOf(const AnyRecord &record) { return currentCodegen(base(record).name); }

/// True if `wanted` is the record's key, file, or the file's name with or without its ending.
bool isNamed(const StoredRecord &stored, llvm::StringRef wanted) {
  return wanted == base(stored.record).key() || wanted == stored.file ||
         wanted == llvm::sys::path::filename(stored.file) || wanted == llvm::sys::path::stem(stored.file);
}

class RepositoryCommand : public Command {
public:
  llvm::StringRef name() const override { return "repository"; }
  llvm::StringRef purpose() const override {
    return "Lists or shows the records of a repository, or explains what a model gets from it.";
  }

  void declare(CLI::App &app) override {
    app.require_subcommand(1);
    list = app.add_subcommand("list", "One line for each record.");
    list->add_option("directory", directory, "the repository")->required();
    show = app.add_subcommand("show", "Everything that one record says.");
    show->add_option("directory", directory, "the repository")->required();
    show->add_option("record", wanted, "its key or file name")->required();
    explain = app.add_subcommand("explain",
                                 "For each region and operator of a model, where its choice comes from.");
    explain->add_option("directory", directory, "the repository")->required();
    explain->add_option("model", path, "an ONNX model")->required();
    flags.declare(*explain, {"target.isa", "target.threads", "target.numerics", "target.input_shapes",
                             "target.input_values"});
  }

  llvm::Error run() override {
    if (explain->parsed())
      return explainModel();
    llvm::Expected<Repository> repository = Repository::open(directory);
    if (!repository)
      return repository.takeError();
    std::vector<Diagnostic> diagnostics;
    std::vector<StoredRecord> records = repository->list(diagnostics);
    llvm::errs() << describeDiagnostics(diagnostics);
    if (list->parsed()) {
      llvm::outs() << describeList(records, codegenOf);
      return llvm::Error::success();
    }
    return showRecords(records);
  }

private:
  llvm::Error showRecords(llvm::ArrayRef<StoredRecord> records) {
    bool found = false;
    for (const StoredRecord &stored : records) {
      if (!isNamed(stored, wanted))
        continue;
      llvm::outs() << (found ? "\n" : "") << describeRecord(stored, codegenOf);
      found = true;
    }
    if (found)
      return llvm::Error::success();
    return llvm::createStringError(directory + ": found no readable record `" + wanted +
                                   "`, expected a key or file name as `autotune repository list` prints it");
  }

  llvm::Error explainModel() {
    llvm::Expected<Config> config = flags.load();
    if (!config)
      return config.takeError();
    llvm::Expected<Device> device = targetDevice(config->target);
    if (!device)
      return device.takeError();
    config->repository.directory = directory;
    auto knowledge = Knowledge::open(config->repository, *device, Knowledge::Access::Read);
    if (!knowledge)
      return knowledge.takeError();
    llvm::Expected<ImportedModel> model = importForTarget(path, config->target);
    if (!model)
      return model.takeError();
    ChoiceTarget target{targetThreads(config->target, *device), targetNumerics(config->target), {}};
    for (size_t i = 0; i < model->profiles.size(); ++i) {
      llvm::Expected<ChosenProfile> chosen = chooseProfile(*model, i, **knowledge, target);
      if (!chosen)
        return chosen.takeError();
      printChoices(*chosen);
    }
    return llvm::Error::success();
  }

  static void printChoice(llvm::StringRef what, const Choice &choice) {
    llvm::raw_ostream &out = llvm::outs();
    out << what << ": " << choiceSourceName(choice.source) << (choice.stale ? ", stale" : "");
    out << (choice.note.empty() ? "" : " (" + choice.note + ")") << "\n";
    for (const std::string &step : choice.trace)
      out << "    " << step << "\n";
  }

  static void printChoices(const ChosenProfile &chosen) {
    llvm::raw_ostream &out = llvm::outs();
    out << "model record: "
        << (chosen.record ? "found; it decides the partition and the schedules it names" : "none") << "\n";
    for (const ChosenRegion &layout : chosen.layouts)
      printChoice(layout.name + ", key " + layout.region.key() + ", " + layout.choice.region.text(),
                  layout.choice);
    for (const auto &[key, algorithm] : chosen.algorithms)
      printChoice(algorithm.region.name + " '" + algorithm.name + "', key " + key + ", " +
                      algorithm.choice.region.text(),
                  algorithm.choice);
    for (const UniqueKernel &kernel : chosen.plan.kernels)
      if (kernel.workload)
        printChoice(kernel.workload->kind + " '" + kernel.label + "', key " + kernel.workload->key(),
                    chosen.schedules.at(kernel.workload->key()));
    out << "schedules: " << chosen.lookup().text() << "\n";
  }

  CLI::App *list = nullptr, *show = nullptr, *explain = nullptr;
  ConfigFlags flags;
  std::string directory, wanted, path;
};

} // namespace

std::unique_ptr<Command> makeRepositoryCommand() { return std::make_unique<RepositoryCommand>(); }

} // namespace autotune
