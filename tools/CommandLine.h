// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parses the command line and runs the subcommand it names.
#pragma once

#include "tools/Command.h"
#include "tools/ExitCode.h"

#include <string>
#include <vector>

namespace autotune {

/// `arguments` without the program's name. `MODEL …` stands for `tune MODEL …`. Prints errors; never throws.
ExitCode runCommandLine(std::vector<std::string> arguments, std::vector<std::unique_ptr<Command>> commands);

} // namespace autotune
