// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/Progress.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

namespace autotune {
namespace {

constexpr std::chrono::seconds kBetweenLines(5);
constexpr std::chrono::milliseconds kBetweenBars(100);
constexpr unsigned kBarCells = 20;

} // namespace

Progress::Style Progress::style(const OutputConfig &output, bool terminal) {
  if (output.quiet || output.progress == ProgressChoice::Off)
    return Style::None;
  return terminal || output.progress == ProgressChoice::On ? Style::Bar : Style::Lines;
}

std::string Progress::line(const ProgressState &state) {
  std::string text = state.stage;
  llvm::raw_string_ostream out(text);
  if (state.tasks > 0)
    out << " " << state.tasksDone << "/" << state.tasks;
  if (state.trials > 0)
    out << ", " << state.trials << " trials";
  if (state.bestMs)
    out << llvm::formatv(", best {0:f3} ms", *state.bestMs);
  if (state.untunedMs)
    out << llvm::formatv(" (untuned {0:f3} ms)", *state.untunedMs);
  if (state.left)
    out << ", " << state.left->count() / 60 << ":" << llvm::format("%02d", int(state.left->count() % 60))
        << " left";
  return text;
}

void Progress::message(llvm::StringRef text) {
  if (style_ == Style::None)
    return;
  finish();
  out << text << "\n";
  out.flush();
}

void Progress::update(const ProgressState &state) {
  if (style_ == Style::None)
    return;
  auto now = std::chrono::steady_clock::now();
  bool changed = stage != state.stage;
  auto pause = style_ == Style::Bar ? std::chrono::milliseconds(kBetweenBars)
                                    : std::chrono::milliseconds(kBetweenLines);
  if (!changed && now - last < pause)
    return;
  stage = state.stage;
  last = now;
  if (style_ == Style::Lines) {
    out << line(state) << "\n";
  } else {
    unsigned full = unsigned(std::clamp(state.done, 0.0, 1.0) * kBarCells);
    std::string text = "[" + std::string(full, '#') + std::string(kBarCells - full, '.') + "] " + line(state);
    text.resize(width - 1, ' ');
    out << "\r" << text;
    drawn = true;
  }
  out.flush();
}

void Progress::finish() {
  if (!drawn)
    return;
  out << "\r" << std::string(width - 1, ' ') << "\r";
  out.flush();
  drawn = false;
}

} // namespace autotune
