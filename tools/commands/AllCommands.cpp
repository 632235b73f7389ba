// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The list of subcommands.
#include "tools/Command.h"

namespace autotune {

std::vector<std::unique_ptr<Command>> allCommands() {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(makeTuneCommand());
  commands.push_back(makeCompileCommand());
  commands.push_back(makeRunCommand());
  commands.push_back(makeBenchCommand());
  commands.push_back(makeCheckCommand());
  commands.push_back(makeProfileCommand());
  commands.push_back(makeRepositoryCommand());
  commands.push_back(makeDeviceCommand());
  commands.push_back(makeOperatorsCommand());
  return commands;
}

} // namespace autotune
