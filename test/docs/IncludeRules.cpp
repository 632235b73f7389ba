// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IncludeRules.h"

#include <algorithm>
#include <regex>
#include <sstream>

namespace autotune {
namespace {

/// Every folder and library that needs a permission. What matches none of them is free (standard library,
/// system).
const std::vector<std::string> kGuarded = {
    "schedule/", "cost_model/", "knowledge_base/", "tuner/", "dialect/", "passes/", "frontend/", "runtime/",
    "tools/",    "test/",       "benchmarks/",     "mlir/",  "llvm/",    "lld/",    "onnx/",     "google/",  "CLI/",
};

bool startsWith(const std::string &text, const std::string &prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

const IncludeRule *ruleFor(const std::string &file) {
  for (const IncludeRule &rule : includeRules())
    if (startsWith(file, rule.folder + "/"))
      return &rule;
  return nullptr;
}

bool isAllowed(const IncludeRule &rule, const std::string &header) {
  // Flags belong to the programs: a library with its own command line options cannot be embedded. Code generation
  // sets one of LLVM's, which has no other interface.
  if (header == "llvm/Support/CommandLine.h")
    return rule.folder == "tools" || rule.folder == "runtime/build";
  auto matches = [&](const std::string &prefix) { return startsWith(header, prefix); };
  return std::none_of(kGuarded.begin(), kGuarded.end(), matches) || startsWith(header, rule.folder + "/") ||
         std::any_of(rule.allowed.begin(), rule.allowed.end(), matches);
}

} // namespace

const std::vector<IncludeRule> &includeRules() {
  static const std::vector<IncludeRule> rules = {
      {"schedule", {"llvm/"}},
      {"cost_model", {"llvm/", "schedule/"}},
      {"knowledge_base", {"llvm/", "schedule/"}},
      {"tuner", {"llvm/", "schedule/", "cost_model/", "knowledge_base/"}},
      {"dialect", {"llvm/", "mlir/"}},
      {"passes", {"llvm/", "mlir/", "schedule/", "dialect/"}},
      {"frontend", {"llvm/", "mlir/", "onnx/", "google/", "dialect/"}},
      {"runtime/deploy", {}},
      {"runtime/build", {"llvm/", "mlir/", "lld/", "schedule/", "passes/", "runtime/deploy/"}},
      {"runtime/worker",
       {"llvm/", "mlir/", "schedule/", "passes/", "runtime/build/", "runtime/deploy/", "tuner/Measurer.h"}},
      {"tools", kGuarded},
  };
  return rules;
}

std::vector<std::string> forbiddenIncludes(const std::string &file, const std::string &text) {
  static const std::regex include(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
  std::vector<std::string> found;
  const IncludeRule *rule = ruleFor(file);
  if (!rule)
    return found;
  std::istringstream lines(text);
  std::smatch match;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (std::regex_search(line, match, include) && !isAllowed(*rule, match[1]))
      found.push_back(file + ":" + std::to_string(number) + ": " + rule->folder + " may not include " +
                      match[1].str());
  }
  return found;
}

} // namespace autotune
