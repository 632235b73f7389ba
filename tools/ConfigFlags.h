// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The flags that stand for configuration keys. A flag beats the file, the file beats the default.
#pragma once

#include "tools/Config.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace autotune {

/// Flags of one subcommand. Declare once, then `load` after the command line is parsed.
class ConfigFlags {
public:
  /// Adds the flag of each named key (of `flagKeys()`), and --config.
  void declare(CLI::App &command, llvm::ArrayRef<llvm::StringRef> keys);
  /// Default, then file, then flags. Errors in flags are usage errors.
  llvm::Expected<Config> load() const;

  /// Every key that has a flag.
  static std::vector<llvm::StringRef> flagKeys();

private:
  struct Given {
    std::string flag, key;
    std::vector<std::string> texts;
  };
  std::string file;
  std::vector<std::unique_ptr<Given>> given; // CLI11 keeps references to the texts
};

} // namespace autotune
