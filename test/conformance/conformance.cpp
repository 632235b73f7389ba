// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the cases of the ONNX test data through the whole compiler and compares with the list of those left out.
#include "test/conformance/ConformanceCase.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <CLI/CLI.hpp>

namespace autotune {
namespace {

/// ctest's word for a test that could not be run here.
constexpr int kSkipped = 77;

struct Arguments {
  std::string data, suite, leftOut, only;
  int shard = 0, shards = 1;
  bool verbose = false;
};

/// Names of the cases, sorted, that fall into this shard.
std::vector<std::string> findCases(const Arguments &arguments) {
  std::vector<std::string> names;
  std::error_code code;
  for (llvm::sys::fs::directory_iterator it(arguments.data + "/" + arguments.suite, code), end; it != end && !code;
       it.increment(code))
    if (llvm::sys::fs::exists(it->path() + "/model.onnx"))
      names.push_back(llvm::sys::path::filename(it->path()).str());
  llvm::sort(names);
  if (!arguments.only.empty())
    llvm::erase_if(names, [&](llvm::StringRef name) { return !name.contains(arguments.only); });
  std::vector<std::string> mine;
  for (size_t i = arguments.shard; i < names.size(); i += arguments.shards)
    mine.push_back(names[i]);
  return mine;
}

/// Lines `suite/case: reason`; `#` starts a comment.
llvm::Expected<llvm::StringMap<std::string>> readLeftOut(const std::string &file) {
  llvm::StringMap<std::string> reasons;
  auto buffer = llvm::MemoryBuffer::getFile(file);
  if (!buffer)
    return llvm::createStringError(file + ": " + buffer.getError().message());
  llvm::SmallVector<llvm::StringRef> lines;
  (*buffer)->getBuffer().split(lines, '\n');
  for (auto [number, line] : llvm::enumerate(lines)) {
    line = line.split('#').first.trim();
    if (line.empty())
      continue;
    auto [name, reason] = line.split(": ");
    if (reason.trim().empty() || !reasons.try_emplace(name.trim(), reason.trim()).second)
      return llvm::createStringError(
          llvm::formatv("{0}:{1}: found `{2}`, expected SUITE/CASE: REASON, once a case", file, number + 1, line).str());
  }
  return reasons;
}

/// Runs one case; true if it is as the list says: passes, or fails and is listed.
bool isAsListed(const Arguments &arguments, const std::string &name, const llvm::StringMap<std::string> &leftOut) {
  std::string key = arguments.suite + "/" + name;
  llvm::PrettyStackTraceString trace(key.c_str());
  llvm::Expected<FixedInputs> result = runConformanceCase(arguments.data + "/" + key);
  auto reason = leftOut.find(key);
  if (!result) {
    std::string message = llvm::toString(result.takeError());
    bool listed = reason != leftOut.end();
    if (!listed || arguments.verbose)
      llvm::outs() << (listed ? "left out " : "FAILED ") << key << ": " << message << "\n";
    return listed;
  }
  if (reason != leftOut.end()) {
    llvm::outs() << "FAILED " << key << ": passes now; take it from the list of those left out\n";
    return false;
  }
  if (arguments.verbose)
    llvm::outs() << "passed " << key << (result->empty() ? "" : " with fixed " + llvm::join(*result, ", ")) << "\n";
  return true;
}

int runCases(const Arguments &arguments) {
  if (!llvm::sys::fs::is_directory(arguments.data)) {
    llvm::outs() << "skipped: " << arguments.data << " is missing (Debian package libonnx-testdata)\n";
    return kSkipped;
  }
  llvm::Expected<llvm::StringMap<std::string>> leftOut = readLeftOut(arguments.leftOut);
  if (!leftOut) {
    llvm::errs() << llvm::toString(leftOut.takeError()) << "\n";
    return 1;
  }
  std::vector<std::string> names = findCases(arguments);
  size_t wrong = llvm::count_if(names, [&](const std::string &name) { return !isAsListed(arguments, name, *leftOut); });
  size_t listed = llvm::count_if(
      names, [&](const std::string &name) { return leftOut->contains(arguments.suite + "/" + name); });
  llvm::outs() << llvm::formatv("{0}: {1} cases, {2} of them left out, {3} not as expected\n", arguments.suite,
                                names.size(), listed, wrong);
  return wrong || names.empty() ? 1 : 0;
}

} // namespace
} // namespace autotune

int main(int argc, char **argv) {
  llvm::sys::PrintStackTraceOnErrorSignal(argv[0]);
  llvm::EnablePrettyStackTrace();
  autotune::Arguments arguments;
  CLI::App app("Runs the cases of the ONNX test data through the whole compiler.");
  app.add_option("--data", arguments.data, "folder with the suites")->required();
  app.add_option("--suite", arguments.suite, "folder with the cases: node, simple, …")->required();
  app.add_option("--left-out", arguments.leftOut, "file with lines SUITE/CASE: REASON")->required();
  app.add_option("--only", arguments.only, "only cases whose name contains this");
  app.add_option("--shard", arguments.shard, "which part of the cases, from 0");
  app.add_option("--shards", arguments.shards, "number of parts");
  app.add_flag("--verbose", arguments.verbose, "one line for each case");
  CLI11_PARSE(app, argc, argv);
  return autotune::runCases(arguments);
}
