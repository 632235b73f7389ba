// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A worker process for tests: the schedule's text names a kernel of a library, or what is to go wrong in the
// build.
#include "runtime/worker/WorkerMain.h"
#include "schedule/Errors.h"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

using namespace autotune;
using namespace autotune::worker;

static llvm::Expected<BuiltKernel> build(const BuildRequest &request) {
  std::string name = request.schedule.value_or("good");
  name = name.substr(0, name.find('=')); // "good=1" is how a real schedule of one knob reads
  if (name == "does not compile")
    return makeError("the nest does not fit");
  if (name == "aborts the compiler") {
    std::fprintf(stderr, "LLVM ERROR: cannot select\n");
    std::abort();
  }
  if (name == "hangs the compiler")
    while (true)
      pause();
  std::printf("printed by the builder, must not reach the protocol\n");
  std::fflush(stdout);
  return BuiltKernel{TEST_KERNELS, name, 16};
}

int main(int argc, char **argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  return runWorker(arguments, build);
}
