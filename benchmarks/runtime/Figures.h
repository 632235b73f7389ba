// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measured costs as a table and as JSON.
#pragma once

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <string>
#include <vector>

namespace autotune::benchmarks {

struct Figure {
  std::string name;                     // what was measured
  std::string unit;                     // "us", "ms", "%", "runs/s"
  double median = 0, low = 0, high = 0; // over rounds; low and high are the first and last tenth
  std::string note;                     // what to know before one believes it

  /// `rounds` is not empty.
  static Figure of(std::string name, std::string unit, std::vector<double> rounds, std::string note = "");
};

struct FigureReport {
  llvm::json::Object provenance;
  std::string heading; // the same for people
  std::vector<Figure> figures;

  std::string table() const;
  llvm::json::Object json() const;
  /// `runtime.json` and `runtime.md` in `folder`, which exists.
  llvm::Error write(const std::string &folder) const;
};

} // namespace autotune::benchmarks
