// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A subcommand of `autotune`: what it declares on the command line and what it does.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <vector>

namespace CLI {
class App;
}

namespace autotune {

class Command {
public:
  virtual ~Command() = default;
  virtual llvm::StringRef name() const = 0;
  /// One sentence for --help.
  virtual llvm::StringRef purpose() const = 0;
  virtual void declare(CLI::App &app) = 0;
  virtual llvm::Error run() = 0;
};

std::unique_ptr<Command> makeTuneCommand();
std::unique_ptr<Command> makeCompileCommand();
std::unique_ptr<Command> makeRunCommand();
std::unique_ptr<Command> makeBenchCommand();
std::unique_ptr<Command> makeCheckCommand();
std::unique_ptr<Command> makeProfileCommand();
std::unique_ptr<Command> makeRepositoryCommand();
std::unique_ptr<Command> makeDeviceCommand();
std::unique_ptr<Command> makeOperatorsCommand();

/// In the order of --help.
std::vector<std::unique_ptr<Command>> allCommands();

} // namespace autotune
