// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/deploy/MemoryLimit.h"

#include "runtime/deploy/ByteText.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <sys/resource.h>
#include <unistd.h>

namespace autotune::deploy {

namespace {

/// The first number of a file; absent for "max" and for files that are not there.
std::optional<uint64_t> readNumber(const std::string &path) {
  uint64_t number = 0;
  std::ifstream file(path);
  return file >> number ? std::optional(number) : std::nullopt;
}

/// The least limit of `group` and of all groups around it, up to the mount point.
std::optional<uint64_t> groupLimit(const std::string &mount, std::string group, const char *file) {
  std::optional<uint64_t> least;
  // Within a container the name may be that of the host: then only the mount point itself has files.
  for (;; group.resize(group.find_last_of('/'))) {
    if (group == "/")
      group.clear();
    if (std::optional<uint64_t> limit = readNumber(mount + group + "/" + file))
      least = least ? std::min(*least, *limit) : limit;
    if (group.empty() || group.find('/') == std::string::npos)
      return least;
  }
}

/// Lines are "4:memory:/group" (version 1) or "0::/group" (version 2).
std::optional<uint64_t> controlGroupLimit(const std::string &root) {
  std::optional<uint64_t> least;
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos)
      continue;
    std::string controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
    std::optional<uint64_t> limit;
    if (controllers.empty())
      limit = groupLimit(root + "/sys/fs/cgroup", group, "memory.max");
    else if (controllers == "memory")
      limit = groupLimit(root + "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
    if (limit)
      least = least ? std::min(*least, *limit) : limit;
  }
  return least;
}

uint64_t physicalBytes() {
  long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && bytes > 0 ? uint64_t(pages) * uint64_t(bytes) : std::numeric_limits<uint64_t>::max();
}

/// What is left of the limit on address space (ulimit -v).
std::optional<uint64_t> addressSpaceLeft(const std::string &root) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return std::nullopt;
  uint64_t taken = readNumber(root + "/proc/self/statm").value_or(0) * uint64_t(sysconf(_SC_PAGESIZE));
  return limit.rlim_cur > taken ? limit.rlim_cur - taken : 0;
}

} // namespace

MemoryLimit memoryLimit(const std::string &root) {
  MemoryLimit limit{physicalBytes(), "this machine has"};
  auto consider = [&](std::optional<uint64_t> bytes, const char *owner) {
    if (bytes && *bytes < limit.bytes)
      limit = {*bytes, owner};
  };
  consider(controlGroupLimit(root), "the process's control group allows");
  consider(addressSpaceLeft(root), "the limit on address space leaves");
  return limit;
}

std::string explainMemoryShortage(const MemoryNeed &need, const MemoryLimit &limit) {
  if (need.intermediate <= limit.bytes && need.inputsAndOutputs <= limit.bytes - need.intermediate)
    return "";
  std::string text = "needs " + byteText(double(need.intermediate)) + " of memory for intermediate tensors";
  if (need.inputsAndOutputs > 0)
    text += " and " + byteText(double(need.inputsAndOutputs)) + " for inputs and outputs";
  return text + ", " + limit.owner + " " + byteText(double(limit.bytes));
}

} // namespace autotune::deploy
