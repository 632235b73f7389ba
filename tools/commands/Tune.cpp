// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `autotune tune`: searches, records, and writes the tuned model.
#include "tools/Command.h"
#include "tools/ConfigFlags.h"
#include "tools/ExitCode.h"
#include "tools/Interrupt.h"
#include "tools/Target.h"
#include "tools/TuneModel.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Process.h"

#include <CLI/CLI.hpp>

namespace autotune {
namespace {

class TuneCommand : public Command {
public:
  llvm::StringRef name() const override { return "tune"; }
  llvm::StringRef purpose() const override {
    return "Searches how to compile a model, records what it finds, and writes the compiled model.";
  }

  void declare(CLI::App &app) override {
    app.add_option("model", path, "an ONNX model")->required();
    flags.declare(app, ConfigFlags::flagKeys());
    app.add_flag("--print-config", showConfig, "print the configuration in force and stop");
    app.add_flag("--print-partition", showPartition,
                 "print the partition that is known without measuring and stop");
    app.add_flag("--dry-run", dryRun, "print what would be tuned and stop");
  }

  llvm::Error run() override {
    llvm::Expected<Config> config = flags.load();
    if (!config)
      return config.takeError();
    if (showConfig) {
      llvm::outs() << printConfig(*config);
      return llvm::Error::success();
    }
    llvm::Expected<Device> device = targetDevice(config->target);
    if (!device)
      return device.takeError();
    llvm::Expected<ImportedModel> model = importForTarget(path, config->target);
    if (!model)
      return model.takeError();
    if (showPartition || dryRun)
      return preview(*model, *config, *device);
    return tune(*model, *config, *device);
  }

private:
  llvm::Error preview(const ImportedModel &model, const Config &config, const Device &device) {
    auto knowledge = Knowledge::open(config.repository, device, Knowledge::Access::Read);
    if (!knowledge)
      return knowledge.takeError();
    ChoiceTarget target{targetThreads(config.target, device), targetNumerics(config.target),
                        config.subgraph.partition};
    for (size_t i = 0; i < model.profiles.size(); ++i) {
      llvm::Expected<ChosenProfile> chosen = chooseProfile(model, i, **knowledge, target);
      if (!chosen)
        return chosen.takeError();
      if (showPartition)
        llvm::outs() << chosen->partition.text(model.profiles[i].graph);
      else
        printTasks(*chosen, config, (*knowledge)->costModel());
    }
    return llvm::Error::success();
  }

  /// Every region and workload that has no exact record, with what the cost model thinks of it.
  static void printTasks(const ChosenProfile &chosen, const Config &config, const CostModel &model) {
    llvm::raw_ostream &out = llvm::outs();
    size_t workloads = 0;
    double totalNs = 0;
    std::string table;
    for (const UniqueKernel &kernel : chosen.plan.kernels) {
      if (!kernel.workload)
        continue;
      const ScheduleChoice &choice = chosen.schedules.at(kernel.workload->key());
      CostQuery query{&*kernel.workload, &choice.schedule};
      double ns = model.predict(std::span(&query, 1)).front() * kernel.occurrences;
      totalNs += ns;
      if (choice.isHit())
        continue;
      ++workloads;
      table += llvm::formatv("  {0,-20} {1,3}x {2,10:f3} ms  {3}\n", kernel.workload->kind,
                             kernel.occurrences, ns / 1e6, kernel.label);
    }
    out << llvm::formatv("regions whose layout or algorithm would be measured: {0}\n",
                         config.mode.subgraph ? chosen.missedRegions() : 0);
    out << llvm::formatv("workloads that would be tuned: {0} (of {1} ms predicted in all)\n",
                         config.mode.operators ? workloads : 0, llvm::formatv("{0:f3}", totalNs / 1e6));
    if (config.mode.operators)
      out << table;
    out << "at most: "
        << (config.budget.time > TimeLimit::zero() ? std::to_string(config.budget.time.count() / 1000) + " s"
                                                   : "no limit of time")
        << (config.budget.trials > 0 ? ", " + std::to_string(config.budget.trials) + " candidates" : "")
        << "\n";
  }

  llvm::Error tune(const ImportedModel &model, const Config &config, const Device &device) {
    std::string folder =
        config.output.directory.empty() ? "./" + model.name + ".tuned" : config.output.directory;
    const std::atomic<bool> &stop = installInterruptHandler();
    bool terminal = llvm::sys::Process::StandardErrIsDisplayed();
    Progress progress(Progress::style(config.output, terminal), llvm::errs());
    TuneOptions options{config, device, &stop};
    llvm::Expected<std::unique_ptr<ModelTuner>> tuner = ModelTuner::create(model, options, progress);
    if (!tuner)
      return tuner.takeError();
    // Before anything is measured: an hour of tuning must not end with a folder that cannot be written.
    if (std::error_code error = llvm::sys::fs::create_directories(folder))
      return llvm::createStringError(folder + ": cannot make the output folder: " + error.message());
    llvm::Expected<TuneResult> result = (*tuner)->run(folder + "/" + model.name + ".so");
    progress.finish();
    if (!result)
      return result.takeError();
    if (result->interrupted)
      return interrupted();
    printResult(*result, llvm::outs());
    return writeFileAtomically(folder + "/result.json",
                               llvm::formatv("{0:2}\n", llvm::json::Value(resultJson(*result))).str());
  }

  ConfigFlags flags;
  std::string path;
  bool showConfig = false, showPartition = false, dryRun = false;
};

} // namespace

std::unique_ptr<Command> makeTuneCommand() { return std::make_unique<TuneCommand>(); }

} // namespace autotune
