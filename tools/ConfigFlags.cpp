// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/ConfigFlags.h"

#include "tools/ExitCode.h"

#include "llvm/ADT/STLExtras.h"

#include <CLI/CLI.hpp>

namespace autotune {
namespace {

struct Flag {
  llvm::StringLiteral name, key;
  /// What the flag sets when it stands alone; empty: it takes a value.
  llvm::StringLiteral alone = "";
};

constexpr Flag kFlags[] = {
    {"--mode", "mode"},
    {"--isa", "target.isa"},
    {"--threads", "target.threads"},
    {"--numerics", "target.numerics"},
    {"--input-shape", "target.input_shapes"},
    {"--input-value", "target.input_values"},
    {"--partition", "subgraph.partition"},
    {"--ops", "operator.only"},
    {"--seed", "operator.seed"},
    {"--budget", "budget.time"},
    {"--trials", "budget.trials"},
    {"--repository", "repository.directory"},
    {"--no-builtin", "repository.builtin", "false"},
    {"--retune", "repository.retune", "true"},
    {"--history", "repository.history"},
    {"--output", "output.directory"},
    {"--progress", "output.progress"},
    {"--quiet", "output.quiet", "true"},
};

std::string meaningOf(llvm::StringRef key) {
  Config config;
  for (const ConfigField &field : configFields(config))
    if (field.path == key)
      return field.meaning;
  llvm_unreachable("flags name keys that exist");
}

} // namespace

std::vector<llvm::StringRef> ConfigFlags::flagKeys() {
  std::vector<llvm::StringRef> keys;
  for (const Flag &flag : kFlags)
    keys.push_back(flag.key);
  return keys;
}

void ConfigFlags::declare(CLI::App &command, llvm::ArrayRef<llvm::StringRef> keys) {
  command.add_option("--config", file, "YAML file; a flag beats the file, the file beats the default");
  for (const Flag &flag : kFlags) {
    if (!llvm::is_contained(keys, flag.key))
      continue;
    Given *slot =
        given.emplace_back(std::make_unique<Given>(Given{flag.name.str(), flag.key.str(), {}})).get();
    if (!flag.alone.empty()) {
      std::string value = flag.alone.str();
      command.add_flag_callback(
          flag.name.str(), [slot, value] { slot->texts = {value}; }, meaningOf(flag.key));
      continue;
    }
    // One value a flag, so that `--input-shape A=1 model.onnx` does not swallow the model.
    command.add_option(flag.name.str(), slot->texts, meaningOf(flag.key))->allow_extra_args(false);
  }
}

llvm::Expected<Config> ConfigFlags::load() const {
  Config config;
  std::vector<std::string> keys;
  if (!file.empty())
    if (llvm::Error error = applyConfigFile(config, file, &keys))
      return error;
  for (const std::unique_ptr<Given> &slot : given) {
    if (slot->texts.empty())
      continue;
    if (llvm::Error error = setConfigValue(config, slot->key, slot->texts))
      return usageError(slot->flag + ": " + llvm::toString(std::move(error)));
    keys.push_back(slot->key);
  }
  // A limit of trials asked for on its own replaces the default limit of time.
  if (llvm::is_contained(keys, "budget.trials") && !llvm::is_contained(keys, "budget.time"))
    config.budget.time = TimeLimit::zero();
  return config;
}

} // namespace autotune
