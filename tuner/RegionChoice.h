// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What can be decided of a region: the value of a subgraph record.
#pragma once

#include "knowledge_base/Record.h"

#include "llvm/Support/Error.h"

#include <string>

namespace autotune {

struct RegionChoice {
  int channelBlock = 0; // 0: plain; 8, 16, 32: NCHW{b}c
  std::string
      algorithm; // of the region's one convolution; empty where each operator gets what the cost model picks

  /// As records hold it, and back. Errors: a decision is missing, unknown or has no legal value; found and
  /// expected.
  Decisions decisions() const;
  static llvm::Expected<RegionChoice> parse(const Decisions &decisions);
  /// For people: "NCHW16c", "NCHW16c winograd4".
  std::string text() const;
  auto operator<=>(const RegionChoice &) const = default;
};

} // namespace autotune
