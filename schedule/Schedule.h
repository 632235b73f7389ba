// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A schedule: one value for each knob of a workload's space.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <map>
#include <string>

namespace autotune {

struct Schedule {
  std::map<std::string, int64_t> knobs;

  /// "cache_cols=8 grain=1 … rows=6": names in alphabetical order, one blank between; round-trips through `parse`.
  std::string text() const;
  /// Errors name the word that is not NAME=INTEGER or is given twice.
  static llvm::Expected<Schedule> parse(llvm::StringRef text);
  auto operator<=>(const Schedule &) const = default;
};

} // namespace autotune
