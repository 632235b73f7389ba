// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "benchmarks/Provenance.h"

#include "schedule/Errors.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sys/utsname.h>

namespace autotune::benchmarks {
namespace {

std::string processorName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("model name", 0) == 0)
      return line.substr(line.find(':') + 2);
  return "unknown";
}

std::string dateNow() {
  std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

} // namespace

llvm::Error writeFile(const std::string &path, const std::string &text) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (error)
    return makeError("{0}: {1}", path, error.message());
  stream << text;
  return llvm::Error::success();
}

llvm::json::Object machineProvenance() {
  double load[3] = {0, 0, 0};
  getloadavg(load, 3);
  utsname system{};
  uname(&system);
  return llvm::json::Object{{"date", dateNow()},
                            {"cpu", processorName()},
                            {"kernel", std::string(system.release)},
                            {"load_average", llvm::json::Array{load[0], load[1], load[2]}},
                            {"autotune", AUTOTUNE_VERSION},
                            {"llvm", LLVM_VERSION_STRING}};
}

} // namespace autotune::benchmarks
