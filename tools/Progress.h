// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Progress on stderr: a bar on a terminal, plain lines elsewhere.
#pragma once

#include "tools/Config.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace autotune {

/// How far a run is. Unknown figures are absent.
struct ProgressState {
  std::string stage; // "operators", "verification"
  double done = 0;   // share of the work, 0 to 1
  int64_t tasksDone = 0, tasks = 0;
  int64_t trials = 0;
  std::optional<double> bestMs, untunedMs;
  std::optional<std::chrono::seconds> left;
};

class Progress {
public:
  enum class Style { None, Lines, Bar };

  /// `terminal`: whether stderr is one.
  static Style style(const OutputConfig &output, bool terminal);

  Progress(Style style, llvm::raw_ostream &out, unsigned width = 80)
      : style_(style), out(out), width(width) {}
  ~Progress() { finish(); }
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// A line of its own that stays; shown unless the style is None.
  void message(llvm::StringRef text);
  /// Redraws the bar, or prints a line if the stage changed or the last line is older than a few seconds.
  void update(const ProgressState &state);
  /// Removes the bar, so that what follows starts on a clean line.
  void finish();

  /// The text of one update: "operators 3/20, 48 trials, best 1.92 ms (untuned 2.41 ms), 1:20 left".
  static std::string line(const ProgressState &state);

private:
  Style style_;
  llvm::raw_ostream &out;
  unsigned width;
  bool drawn = false;
  std::string stage;
  std::chrono::steady_clock::time_point last;
};

} // namespace autotune
