// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shapes that the user binds to model inputs: the text of --input-shape.
#pragma once

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace autotune {

/// The shapes of one input, one for each profile.
struct InputShape {
  std::string name;
  std::vector<std::vector<int64_t>> profiles;

  /// "x=1x3x224x224;4x3x224x224"; a scalar's shape is the word `scalar`.
  std::string text() const;
  /// Errors say what was found and expected.
  static llvm::Expected<InputShape> parse(llvm::StringRef text);
  bool operator==(const InputShape &) const = default;
};

/// The shapes of all inputs for each profile; one empty profile if nothing is given. An input with a single
/// shape has it in all profiles. Errors: an input given twice, or different numbers of profiles.
llvm::Expected<std::vector<llvm::StringMap<std::vector<int64_t>>>>
shapeProfiles(const std::vector<InputShape> &inputs);

} // namespace autotune
