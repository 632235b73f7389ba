// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text for `repository list` and `show`.
#include "knowledge_base/Describe.h"
#include "TestRecords.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace autotune;
using testing::HasSubstr;

static CodegenVersion current(const AnyRecord &record) {
  return {"19.1.7", std::holds_alternative<OperatorRecord>(record) ? 3 : 4};
}

TEST(Describe, ListHasOneLineARecordAndMarksStaleOnes) {
  std::string text = describeList({{"o", operatorRecord()}, {"s", subgraphRecord()}}, current);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_THAT(text,
              HasSubstr("operator  matmul      " + operatorRecord().key() +
                        "  1.50x [1.49, 1.51]  improved  2026-11-30T08:41:06Z  " + kDevice.str() + "\n"));
  EXPECT_THAT(text, HasSubstr(kDevice.str() + "  stale\n"));
}

TEST(Describe, ShowExplainsAndGivesTheWholeText) {
  std::string text = describeRecord({"x/operator/file.yaml", operatorRecord()}, current);
  EXPECT_THAT(text, HasSubstr("Tuning won: 1.50x [1.49, 1.51] over the untuned choice"));
  EXPECT_THAT(text, HasSubstr("Passed the check 'contraction', bound 3e-06, max_error 1.25e-07."));
  EXPECT_THAT(text, HasSubstr("Schedule: columns=16 rows=6"));
  EXPECT_THAT(text, HasSubstr("\n\n" + recordText(operatorRecord())));
  EXPECT_THAT(text, testing::Not(HasSubstr("Stale")));
}

TEST(Describe, ShowListsWhatWasMeasuredAndSaysWhyItIsStale) {
  SubgraphRecord record = subgraphRecord();
  record.outcome = SearchOutcome::DefaultBest;
  std::string text = describeRecord({"file.yaml", record}, current);
  EXPECT_THAT(text, HasSubstr("Nothing that was tried beat the untuned choice"));
  EXPECT_THAT(text, HasSubstr("    channel_block=0 algorithm=direct: 1 ms (spread 1e-05 ms, 5 runs)\n"));
  EXPECT_THAT(text,
              HasSubstr("Stale: made with LLVM 19.1.7 and code generator 3, this is LLVM 19.1.7 and code "
                        "generator 4"));
}

TEST(Describe, SkippedFilesAreOneLineEach) {
  EXPECT_EQ(describeDiagnostics({}), "");
  EXPECT_EQ(describeDiagnostics({{"a.yaml", "found x, expected y"}}),
            "skipped a.yaml: found x, expected y\n");
}
