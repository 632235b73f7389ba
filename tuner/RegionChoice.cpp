// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decisions of records to choices and back.
#include "tuner/RegionChoice.h"

#include "schedule/Algorithm.h"
#include "schedule/Errors.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace autotune;

static constexpr llvm::StringLiteral kBlock = "channel_block", kAlgorithm = "algorithm";

Decisions RegionChoice::decisions() const {
  Decisions decisions = {{kBlock.str(), std::to_string(channelBlock)}};
  if (!algorithm.empty())
    decisions.emplace_back(kAlgorithm.str(), algorithm);
  return decisions;
}

llvm::Expected<RegionChoice> RegionChoice::parse(const Decisions &decisions) {
  RegionChoice choice;
  bool hasBlock = false;
  for (const auto &[name, value] : decisions) {
    if (name == kBlock) {
      hasBlock = !llvm::StringRef(value).getAsInteger(10, choice.channelBlock) &&
                 llvm::is_contained({0, 8, 16, 32}, choice.channelBlock);
      if (!hasBlock)
        return makeError("found channel_block {0}, expected 0, 8, 16 or 32", value);
    } else if (name == kAlgorithm) {
      if (!llvm::is_contained(algorithmNames(), llvm::StringRef(value)))
        return makeError("found algorithm {0}, expected one of: {1}", value,
                         llvm::join(algorithmNames(), ", "));
      choice.algorithm = value;
    } else {
      return makeError("found decision {0}, expected {1} or {2}", name, kBlock, kAlgorithm);
    }
  }
  if (!hasBlock)
    return makeError("found no channel_block among the decisions, expected one");
  return choice;
}

std::string RegionChoice::text() const {
  std::string layout = channelBlock == 0 ? "plain" : "NCHW" + std::to_string(channelBlock) + "c";
  return algorithm.empty() ? layout : layout + " " + algorithm;
}
