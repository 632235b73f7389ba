// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `autotune` program.
#include "tools/CommandLine.h"

int main(int argc, char **argv) {
  return int(autotune::runCommandLine(std::vector<std::string>(argv + 1, argv + argc), autotune::allCommands()));
}
