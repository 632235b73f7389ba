// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The configuration: one struct per section of the YAML file, with the default and meaning of each key.
#pragma once

#include "tools/InputShapes.h"
#include "tools/InputValue.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace autotune {

/// Which passes tune. They always run in this order, whatever order the user wrote.
struct Modes {
  bool subgraph = true;
  bool operators = true;
  bool operator==(const Modes &) const = default;
};

enum class IsaChoice { Native, Avx2, Avx512 };
enum class NumericsChoice { Default, Strict };
enum class ProgressChoice { Auto, On, Off };

/// A limit of time; zero stands for `none`.
using TimeLimit = std::chrono::milliseconds;

struct TargetConfig {
  IsaChoice isa = IsaChoice::Native;
  int64_t threads = 0; // 0: the physical cores of this machine
  NumericsChoice numerics = NumericsChoice::Default;
  std::vector<InputShape> inputShapes;
  std::vector<InputValue> inputValues; // inputs that become constants
  bool operator==(const TargetConfig &) const = default;
};

struct SubgraphConfig {
  std::string partition; // a file to apply instead of searching; empty: search
  bool operator==(const SubgraphConfig &) const = default;
};

struct OperatorConfig {
  std::vector<std::string> only; // node names or operator types; empty: all
  int64_t batch = 8;             // candidates that are compiled and linked together
  int64_t seed = 1;
  bool operator==(const OperatorConfig &) const = default;
};

struct BudgetConfig {
  TimeLimit time = std::chrono::minutes(3);
  int64_t trials = 0; // 0: no limit
  bool operator==(const BudgetConfig &) const = default;
};

struct RepositoryConfig {
  std::string directory = "./autotune_repository";
  bool builtin = true;
  bool retune = false;
  std::string history; // empty: $XDG_DATA_HOME/autotune/history.db
  bool operator==(const RepositoryConfig &) const = default;
};

struct OutputConfig {
  std::string directory; // empty: ./<model name>.tuned
  ProgressChoice progress = ProgressChoice::Auto;
  bool quiet = false;
  bool operator==(const OutputConfig &) const = default;
};

struct Config {
  Modes mode;
  TargetConfig target;
  SubgraphConfig subgraph;
  OperatorConfig operators;
  BudgetConfig budget;
  RepositoryConfig repository;
  OutputConfig output;
  bool operator==(const Config &) const = default;
};

/// One key of the file, bound to its place in a `Config`.
struct ConfigField {
  std::string path;    // "budget.time"; "mode" has no section
  std::string meaning; // one line
  bool list = false;   // written as a YAML sequence
  bool commas = false; // a single text may hold several values between commas
  std::function<std::vector<std::string>()> get = nullptr;
  /// Absent: accepted. Else what was expected; nothing is changed then.
  std::function<std::optional<std::string>(const std::vector<std::string> &)> set = nullptr;
};

/// Every key there is, in the order in which they are printed. The fields refer to `config`.
std::vector<ConfigField> configFields(Config &config);

/// Sets one key from the text of a flag. Error: what was found and expected.
llvm::Error setConfigValue(Config &config, llvm::StringRef path, const std::vector<std::string> &texts);

/// Applies YAML `text` over `config` and adds the keys it sets to `given`. Errors name `file` and line, what
/// was found and expected; an unknown key is answered with the nearest known one.
llvm::Error applyConfigText(Config &config, llvm::StringRef text, llvm::StringRef file,
                            std::vector<std::string> *given = nullptr);
llvm::Error applyConfigFile(Config &config, const std::string &file,
                            std::vector<std::string> *given = nullptr);

/// YAML with every key and its meaning as a comment; `applyConfigText` of it gives the same config.
std::string printConfig(const Config &config);

} // namespace autotune
