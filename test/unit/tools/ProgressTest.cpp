// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/Progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace autotune;
using testing::HasSubstr;
using testing::Not;

namespace {

ProgressState sample(const char *stage) {
  ProgressState state;
  state.stage = stage;
  state.done = 0.5;
  state.tasksDone = 3;
  state.tasks = 20;
  state.trials = 48;
  state.bestMs = 1.92;
  state.untunedMs = 2.41;
  state.left = std::chrono::seconds(80);
  return state;
}

std::string shown(Progress::Style style) {
  std::string text;
  llvm::raw_string_ostream out(text);
  Progress progress(style, out);
  progress.update(sample("operators"));
  progress.update(sample("operators"));
  progress.message("hello");
  progress.update(sample("verification"));
  return text;
}

TEST(ProgressTest, LineSaysWhatIsKnown) {
  EXPECT_EQ(Progress::line(sample("operators")),
            "operators 3/20, 48 trials, best 1.920 ms (untuned 2.410 ms), 1:20 left");
  ProgressState state;
  state.stage = "import";
  EXPECT_EQ(Progress::line(state), "import");
}

TEST(ProgressTest, LinesShowEachStageOnceWithoutControlCharacters) {
  std::string text = shown(Progress::Style::Lines);
  EXPECT_EQ(text, Progress::line(sample("operators")) + "\nhello\n" + Progress::line(sample("verification")) +
                      "\n");
}

TEST(ProgressTest, BarIsRedrawnInPlace) {
  std::string text = shown(Progress::Style::Bar);
  EXPECT_THAT(text, HasSubstr("\r[##########..........] operators 3/20"));
  EXPECT_THAT(text, HasSubstr("hello\n"));
}

TEST(ProgressTest, NoneShowsNothing) { EXPECT_EQ(shown(Progress::Style::None), ""); }

TEST(ProgressTest, StyleFollowsTerminalAndConfig) {
  OutputConfig output;
  EXPECT_EQ(Progress::style(output, true), Progress::Style::Bar);
  EXPECT_EQ(Progress::style(output, false), Progress::Style::Lines);
  output.progress = ProgressChoice::Off;
  EXPECT_EQ(Progress::style(output, true), Progress::Style::None);
  output.progress = ProgressChoice::On;
  EXPECT_EQ(Progress::style(output, false), Progress::Style::Bar);
  output.quiet = true;
  EXPECT_EQ(Progress::style(output, true), Progress::Style::None);
}

} // namespace
