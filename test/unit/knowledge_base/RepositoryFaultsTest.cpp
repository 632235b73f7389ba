// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Broken repositories and full disks: reported, skipped, and never half written.
#include "TestRecords.h"
#include "knowledge_base/Repository.h"
#include "test/unit/Results.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <csignal>
#include <limits>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace autotune;
using testing::HasSubstr;

static Repository create(const TemporaryFolder &folder) {
  return cantFail(Repository::open(folder.path(), {/*create=*/true, "0.1.0"}));
}

static std::string operatorFile(const TemporaryFolder &folder,
                                const OperatorRecord &record = operatorRecord()) {
  return folder.path() + "/" + kDevice.str() + "/operator/" + recordFileName(record);
}

TEST(RepositoryFaults, OpeningSaysWhatIsWrong) {
  TemporaryFolder folder;
  EXPECT_THAT(messageOf(Repository::open(folder.path())), HasSubstr("found no repository.yaml"));
  writeText(folder.path("file"), "text");
  EXPECT_THAT(messageOf(Repository::open(folder.path("file"), {true, ""})),
              HasSubstr("found a file, expected a directory"));
  EXPECT_THAT(messageOf(Repository::open(folder.path("file/below"), {true, ""})),
              HasSubstr("cannot make directory"));
  create(folder);
  writeText(folder.path() + "/repository.yaml", "format: 2\n");
  EXPECT_THAT(messageOf(Repository::open(folder.path(), {true, ""})),
              HasSubstr("found format 2, expected format 1"));
  writeText(folder.path() + "/repository.yaml", "\x7f"
                                                "ELF");
  EXPECT_THAT(messageOf(Repository::open(folder.path())), HasSubstr("expected 'format: 1'"));
  EXPECT_EQ(readText(folder.path() + "/repository.yaml"), "\x7f"
                                                          "ELF");
}

TEST(RepositoryFaults, ABrokenRecordIsAnErrorForItsKeyAndSkippedByTheRest) {
  TemporaryFolder folder;
  Repository repository = create(folder);
  cantFail(repository.put(operatorRecord()));
  cantFail(repository.put(operatorRecord(1.5, matmul(8, 8, 8))));
  writeText(operatorFile(folder), "garbage");
  EXPECT_THAT(
      messageOf(repository.findOperator(kDevice, matmul(64, 64, 64))),
      HasSubstr(recordFileName(operatorRecord()) + ": line 1: found 'garbage', expected 'format: 1'"));
  std::vector<Diagnostic> diagnostics;
  EXPECT_EQ(repository.list(diagnostics).size(), 1u);
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(diagnostics[0].file, (kDevice + "/operator/" + recordFileName(operatorRecord())).str());
  EXPECT_EQ(repository.findNear(kDevice, matmul(9, 9, 9), 5, diagnostics).size(), 1u);
  EXPECT_EQ(diagnostics.size(), 2u);
  EXPECT_EQ(valueOf(repository.put(operatorRecord(1.01))), PutResult::Added);
  EXPECT_EQ(valueOf(repository.findOperator(kDevice, matmul(64, 64, 64))), operatorRecord(1.01));
}

TEST(RepositoryFaults, ARecordUnderAnotherNameOrDeviceIsRefused) {
  TemporaryFolder folder;
  Repository repository = create(folder);
  cantFail(repository.put(operatorRecord()));
  std::string text = readText(operatorFile(folder));
  writeText(operatorFile(folder, operatorRecord(1.5, matmul(8, 8, 8))), text);
  EXPECT_THAT(messageOf(repository.findOperator(kDevice, matmul(8, 8, 8))),
              HasSubstr("expected the name of the file"));
  llvm::sys::fs::create_directories(folder.path() + "/other/operator");
  writeText(folder.path() + "/other/operator/" + recordFileName(operatorRecord()), text);
  EXPECT_THAT(messageOf(repository.findOperator("other", matmul(64, 64, 64))),
              HasSubstr("found a record of device"));
}

TEST(RepositoryFaults, OddEntriesAreSkipped) {
  TemporaryFolder folder;
  Repository repository = create(folder);
  cantFail(repository.put(operatorRecord()));
  std::string directory = folder.path() + "/" + kDevice.str() + "/operator/";
  llvm::sys::fs::create_directories(directory + "matmul-directory.yaml");
  mkfifo((directory + "matmul-pipe.yaml").c_str(), 0600);
  writeText(directory + ".matmul-0.yaml.tmp", "half writ");
  writeText(directory + "README.md", "hello");
  std::vector<Diagnostic> diagnostics;
  EXPECT_EQ(repository.list(diagnostics).size(), 1u);
  EXPECT_EQ(diagnostics.size(), 3u);
}

TEST(RepositoryFaults, ARecordThatWouldNotBeReadBackIsNotWritten) {
  TemporaryFolder folder;
  Repository repository = create(folder);
  OperatorRecord record = operatorRecord();
  record.tuned.medianNs = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(messageOf(repository.put(record)), HasSubstr("expected a finite number"));
  record = operatorRecord();
  record.schedule.knobs["two words"] = 1;
  EXPECT_THAT(messageOf(repository.put(record)), HasSubstr("cannot be stored"));
  EXPECT_FALSE(llvm::sys::fs::exists(operatorFile(folder)));
}

TEST(RepositoryFaults, ALockLeftByAKilledProcessHoldsNobodyUp) {
  TemporaryFolder folder;
  Repository repository = create(folder);
  cantFail(repository.put(operatorRecord(1.1)));
  std::string lock =
      folder.path() + "/" + kDevice.str() + "/operator/." + recordFileName(operatorRecord()) + ".lock";
  writeText(lock, "");
  EXPECT_EQ(valueOf(repository.put(operatorRecord(1.2))), PutResult::Improved);
  EXPECT_FALSE(llvm::sys::fs::exists(lock));
}

/// Runs `body` in a child process; true if it returned true there.
template <typename Body> static bool inChild(Body body) {
  pid_t child = fork();
  if (child == 0)
    _exit(body() ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  return status == 0;
}

TEST(RepositoryFaults, AFullDiskKeepsTheOldRecordAndLeavesNothingBehind) {
  TemporaryFolder folder;
  Repository repository = create(folder);
  cantFail(repository.put(operatorRecord(1.1)));
  EXPECT_TRUE(inChild([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit limit{100, 100}; // files may grow to 100 bytes, as on a disk that is nearly full
    setrlimit(RLIMIT_FSIZE, &limit);
    return llvm::StringRef(messageOf(repository.put(operatorRecord(1.2)))).contains("File too large");
  }));
  EXPECT_EQ(valueOf(repository.findOperator(kDevice, matmul(64, 64, 64))), operatorRecord(1.1));
  std::error_code code;
  llvm::sys::fs::directory_iterator entry(folder.path() + "/" + kDevice.str() + "/operator", code);
  EXPECT_EQ(entry->path(), operatorFile(folder));
  EXPECT_EQ(entry.increment(code), llvm::sys::fs::directory_iterator());
}

TEST(RepositoryFaults, AReadOnlyRepositoryIsReadAndPutSaysWhy) {
  TemporaryFolder folder;
  Repository repository = create(folder);
  cantFail(repository.put(operatorRecord(1.1)));
  std::string directory = folder.path() + "/" + kDevice.str() + "/operator";
  chmod(folder.path("").c_str(), 0755);
  chmod(directory.c_str(), 0555);
  EXPECT_TRUE(inChild([&] {
    constexpr uid_t kNobody = 65534; // root may write everywhere
    if (geteuid() == 0 && setuid(kNobody) != 0)
      return false;
    return llvm::StringRef(messageOf(repository.put(operatorRecord(1.2)))).contains("Permission denied") &&
           llvm::StringRef(messageOf(Repository::open(folder.path(), {true, ""}))).contains("cannot write") &&
           messageOf(Repository::open(folder.path())).empty() &&
           valueOf(repository.findOperator(kDevice, matmul(64, 64, 64))) == operatorRecord(1.1);
  }));
  chmod(directory.c_str(), 0755);
}
