// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text form of schedules.
#include "schedule/Schedule.h"
#include "test/unit/Results.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace autotune;

TEST(Schedule, TextIsAlphabeticalAndRoundTrips) {
  Schedule schedule{{{"rows", 6}, {"cache_cols", 8}, {"shift", -1}}};
  EXPECT_EQ(schedule.text(), "cache_cols=8 rows=6 shift=-1");
  EXPECT_EQ(valueOf(Schedule::parse(schedule.text())), schedule);
  EXPECT_EQ(valueOf(Schedule::parse("")), Schedule());
}

TEST(Schedule, ErrorsNameTheWord) {
  EXPECT_EQ(messageOf(Schedule::parse("rows=6 cols")), "schedule: found 'cols', expected NAME=INTEGER");
  EXPECT_EQ(messageOf(Schedule::parse("rows=6x")), "schedule: found 'rows=6x', expected NAME=INTEGER");
  EXPECT_NE(messageOf(Schedule::parse("rows=99999999999999999999")), "");
  EXPECT_EQ(messageOf(Schedule::parse("rows=6 rows=7")),
            "schedule: found 'rows=7', expected knob 'rows' only once");
}
