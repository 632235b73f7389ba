// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The history: everything comes back, several processes write, broken files are refused.
#include "knowledge_base/History.h"
#include "TestRecords.h"
#include "test/unit/Results.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <csignal>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace autotune;
using testing::HasSubstr;

static Trial measured(int64_t rows, const Workload &workload = matmul(64, 64, 64)) {
  return {workload.text(),       {{{"rows", rows}}},
          kDevice.str(),         Timing{1.5 * double(rows), 0.25, 10},
          {"19.1.7", 3},         "0.1.0",
          "2026-11-30T08:41:06Z"};
}

static Trial failed(int64_t rows, const std::string &stage, const std::string &reason) {
  Trial trial = measured(rows);
  trial.outcome = TrialFailure{stage, reason};
  return trial;
}

static History create(const TemporaryFolder &folder) {
  return cantFail(History::open(folder.path("a/b/history.db")));
}

TEST(History, GivesBackWhatWasAddedInOrder) {
  TemporaryFolder folder;
  std::vector<Trial> trials = {measured(1), failed(2, "run", "killed by signal 11\nstderr: ä\x01"),
                               measured(3)};
  EXPECT_EQ(messageOf(create(folder).add(trials)), "");
  History again = create(folder);
  EXPECT_EQ(valueOf(again.query({})), trials);
  EXPECT_EQ(messageOf(again.add({})), "");
  EXPECT_EQ(valueOf(again.count({})), 3);
}

TEST(History, FiltersByWorkloadDeviceCodeGeneratorAndOutcome) {
  TemporaryFolder folder;
  History history = create(folder);
  Trial otherDevice = measured(4), otherCode = measured(5);
  otherDevice.deviceKey = "other";
  otherCode.codegen.number = 4;
  EXPECT_EQ(messageOf(history.add({measured(1), measured(2, matmul(1, 1, 1)), failed(3, "check", "wrong"),
                                   otherDevice, otherCode})),
            "");
  TrialFilter filter;
  filter.workloadKey = matmul(64, 64, 64).key();
  EXPECT_EQ(valueOf(history.count(filter)), 4);
  filter.deviceKey = kDevice.str();
  EXPECT_EQ(valueOf(history.count(filter)), 3);
  filter.codegen = CodegenVersion{"19.1.7", 3};
  EXPECT_THAT(valueOf(history.query(filter)), testing::ElementsAre(measured(1), failed(3, "check", "wrong")));
  filter.measurementsOnly = true;
  EXPECT_THAT(valueOf(history.query(filter)), testing::ElementsAre(measured(1)));
  TrialFilter newest;
  newest.newest = 2;
  EXPECT_THAT(valueOf(history.query(newest)), testing::ElementsAre(otherDevice, otherCode));
  EXPECT_EQ(valueOf(history.count(newest)), 2);
}

TEST(History, SummaryCountsMeasurementsAndFailuresByReason) {
  TemporaryFolder folder;
  History history = create(folder);
  EXPECT_EQ(messageOf(history.add({failed(1, "run", "timeout"), measured(2),
                                   failed(3, "run", "crash\nline 2"), failed(4, "run", "crash\nline 3")})),
            "");
  std::vector<TrialCount> counts = valueOf(history.summary());
  ASSERT_EQ(counts.size(), 3u);
  EXPECT_EQ(counts[0].stage + counts[0].reason + std::to_string(counts[0].count), "1");
  EXPECT_EQ(counts[1].stage + counts[1].reason + std::to_string(counts[1].count), "runcrash2");
  EXPECT_EQ(counts[2].stage + counts[2].reason + std::to_string(counts[2].count), "runtimeout1");
}

TEST(History, SeveralProcessesAddAtOnceFromTheFirstOpening) {
  TemporaryFolder folder;
  std::vector<pid_t> children;
  for (int writer = 0; writer < 3; ++writer) {
    children.push_back(fork());
    if (children.back() == 0) {
      History history = create(folder);
      for (int i = 0; i < 10; ++i)
        cantFail(history.add({measured(writer), measured(i)}));
      _exit(0);
    }
  }
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(valueOf(create(folder).count({})), 60);
}

TEST(History, AKilledProcessLosesNothingThatWasAdded) {
  TemporaryFolder folder;
  pid_t child = fork();
  if (child == 0) {
    History history = create(folder);
    cantFail(history.add({measured(1), measured(2)}));
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(valueOf(create(folder).count({})), 2);
}

TEST(History, FilesThatAreNoHistoryAreRefusedAndUntouched) {
  TemporaryFolder folder;
  std::string garbage(5000, 'x');
  writeText(folder.path("garbage.db"), garbage);
  EXPECT_THAT(messageOf(History::open(folder.path("garbage.db"))),
              HasSubstr("garbage.db: file is not a database, expected a history; move it away"));
  EXPECT_EQ(readText(folder.path("garbage.db")), garbage);
  EXPECT_THAT(messageOf(History::open(folder.path(""))), HasSubstr("history"));
  EXPECT_THAT(messageOf(History::open(folder.path("garbage.db/history.db"))),
              HasSubstr("cannot make directory"));

  sqlite3 *other = nullptr;
  sqlite3_open(folder.path("other.db").c_str(), &other);
  sqlite3_exec(other, "CREATE TABLE mine(x)", nullptr, nullptr, nullptr);
  sqlite3_close(other);
  EXPECT_THAT(messageOf(History::open(folder.path("other.db"))), HasSubstr("database of another program"));

  cantFail(create(folder).add({measured(1)}));
  sqlite3_open(folder.path("a/b/history.db").c_str(), &other);
  sqlite3_exec(other, "PRAGMA user_version=9", nullptr, nullptr, nullptr);
  sqlite3_close(other);
  EXPECT_THAT(messageOf(History::open(folder.path("a/b/history.db"))),
              HasSubstr("found version 9, expected version 1"));
}

TEST(History, DamagedPagesNeverCrash) {
  TemporaryFolder folder;
  cantFail(create(folder).add({measured(1), failed(2, "run", "crash"), measured(3)}));
  const std::string text = readText(folder.path("a/b/history.db"));
  for (size_t byte = 0; byte < text.size(); byte += 61) {
    std::string damaged = text;
    damaged[byte] ^= 0x55;
    for (const std::string &content : {damaged, text.substr(0, byte)}) {
      writeText(folder.path("damaged.db"), content);
      llvm::Expected<History> history = History::open(folder.path("damaged.db"));
      if (!history)
        llvm::consumeError(history.takeError());
      else if (llvm::Expected<std::vector<Trial>> trials = history->query({}); !trials)
        llvm::consumeError(trials.takeError());
    }
  }
}
