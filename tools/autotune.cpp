// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `autotune` program.
#include "tools/CommandLine.h"
#include "tools/Worker.h"

int main(int argc, char **argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (!arguments.empty() && arguments[0] == autotune::kWorkerWord)
    return autotune::runWorkerProcess(llvm::ArrayRef(arguments).drop_front());
  return int(autotune::runCommandLine(std::move(arguments), autotune::allCommands()));
}
