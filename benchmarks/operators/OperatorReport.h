// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is written at the end: where the figures come from, a table, and all rounds as JSON.
#pragma once

#include "benchmarks/Statistics.h"
#include "benchmarks/operators/Roofline.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <string>
#include <vector>

namespace autotune::benchmarks {

/// One side of a comparison.
struct SideResult {
  std::string choice; // schedule, or the peer's name of its code
  double medianNs = 0;
  std::vector<double> roundsNs;
};

struct OperatorResult {
  OperatorShape shape;
  std::string error; // set: there is nothing else
  SideResult autotune;
  std::string problem;   // what was compiled: the name and its layout
  size_t tried = 0;      // schedules
  std::string peerError; // why there is no peer
  std::optional<SideResult> peer;
  std::optional<RatioInterval> speedup; // time of the peer over ours
  double difference = 0;                // of the results, as a share of their range
  double peakGflops = 0;                // median over the same rounds
  double percentOfPeak = 0;             // median over the rounds
  Bandwidth bandwidth;                  // of its bytes
  Bound bound;

  /// "direct", "winograd2", "winograd4"; of operators without a choice "direct".
  std::string algorithm() const;
  double gflops() const { return flops(shape.op) / autotune.medianNs; }
  double percentOfBound() const { return 100 * bound.ns / autotune.medianNs; }
  /// Both sides compute the same.
  bool agrees() const;
};

struct OperatorReport {
  llvm::json::Object provenance;
  std::string heading;            // the same for people
  std::string peer = "oneDNN";    // in the table; lower case, it is a key of the JSON
  std::string stem = "operators"; // of the files
  std::vector<Bandwidth> levels;
  std::vector<OperatorResult> results;

  std::string table() const;
  llvm::json::Object json() const;
  /// `<stem>.json` and `<stem>.md` in `folder`, which exists.
  llvm::Error write(const std::string &folder) const;
};

} // namespace autotune::benchmarks
