// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text form of schedules.
#include "schedule/Schedule.h"

#include "llvm/Testing/Support/Error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace autotune;

TEST(Schedule, TextIsAlphabeticalAndRoundTrips) {
  Schedule schedule{{{"rows", 6}, {"cache_cols", 8}, {"shift", -1}}};
  EXPECT_EQ(schedule.text(), "cache_cols=8 rows=6 shift=-1");
  EXPECT_THAT_EXPECTED(Schedule::parse(schedule.text()), llvm::HasValue(schedule));
  EXPECT_THAT_EXPECTED(Schedule::parse(""), llvm::HasValue(Schedule()));
}

TEST(Schedule, ErrorsNameTheWord) {
  EXPECT_THAT_EXPECTED(Schedule::parse("rows=6 cols"),
                       llvm::FailedWithMessage("schedule: found 'cols', expected NAME=INTEGER"));
  EXPECT_THAT_EXPECTED(Schedule::parse("rows=6x"),
                       llvm::FailedWithMessage("schedule: found 'rows=6x', expected NAME=INTEGER"));
  EXPECT_THAT_EXPECTED(Schedule::parse("rows=99999999999999999999"), llvm::Failed());
  EXPECT_THAT_EXPECTED(Schedule::parse("rows=6 rows=7"),
                       llvm::FailedWithMessage("schedule: found 'rows=7', expected knob 'rows' only once"));
}
