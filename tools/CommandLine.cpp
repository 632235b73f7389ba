// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/CommandLine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace autotune {
namespace {

using Commands = std::vector<std::unique_ptr<Command>>;

bool isCommand(const Commands &commands, llvm::StringRef word) {
  return llvm::any_of(commands, [&](const auto &command) { return command->name() == word; });
}

/// A first word that is no flag, no file and does not look like one was meant as a command.
llvm::Error refuseUnknownCommand(const Commands &commands, llvm::StringRef word) {
  if (word.starts_with("-") || word.find_first_of("./") != llvm::StringRef::npos ||
      llvm::sys::fs::exists(word))
    return llvm::Error::success();
  auto nearest = std::min_element(commands.begin(), commands.end(), [&](const auto &a, const auto &b) {
    return word.edit_distance(a->name()) < word.edit_distance(b->name());
  });
  return usageError("`" + word + "` is neither a file nor a command; the nearest command is `" +
                    (*nearest)->name() + "`");
}

/// Makes `MODEL …` into `tune MODEL …`.
llvm::Error insertDefaultCommand(std::vector<std::string> &arguments, const Commands &commands) {
  if (arguments.empty())
    return usageError("expected a model or a command; see autotune --help");
  const std::string &first = arguments[0];
  if (first == "--help" || first == "-h" || first == "--version" || isCommand(commands, first))
    return llvm::Error::success();
  if (llvm::Error error = refuseUnknownCommand(commands, first))
    return error;
  arguments.insert(arguments.begin(), "tune");
  return llvm::Error::success();
}

ExitCode runParsed(CLI::App &app, const Commands &commands) {
  CLI::App *chosen = app.get_subcommands().front();
  for (const std::unique_ptr<Command> &command : commands)
    if (chosen->get_name() == command->name())
      return reportError(command->run());
  llvm_unreachable("every subcommand belongs to a command");
}

} // namespace

ExitCode runCommandLine(std::vector<std::string> arguments, Commands commands) {
  if (llvm::Error error = insertDefaultCommand(arguments, commands))
    return reportError(std::move(error));
  CLI::App app(
      "Graph auto-tuning compiler for ONNX models on CPUs. `autotune MODEL …` means `autotune tune MODEL …`.",
      "autotune");
  app.set_version_flag("--version", "autotune " AUTOTUNE_VERSION);
  app.require_subcommand(1);
  for (const std::unique_ptr<Command> &command : commands)
    command->declare(*app.add_subcommand(command->name().str(), command->purpose().str()));
  try {
    std::reverse(arguments.begin(), arguments.end()); // CLI11 takes them from the back
    app.parse(arguments);
    return runParsed(app, commands);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0)
      return ExitCode(app.exit(error)); // --help and --version
    return reportError(usageError(error.what()));
  } catch (const std::exception &exception) {
    return reportError(llvm::make_error<ExitError>(
        ExitCode::Internal,
        std::string("internal fault: ") + exception.what() +
            "; please report it with this command line and the model, if you may share it"));
  }
}

} // namespace autotune
