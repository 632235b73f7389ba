// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Storing, finding and listing records.
#include "knowledge_base/Repository.h"
#include "TestRecords.h"
#include "test/unit/Results.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace autotune;
using testing::HasSubstr;

static Repository create(const TemporaryFolder &folder) {
  return cantFail(Repository::open(folder.path(), {/*create=*/true, "0.1.0"}));
}

TEST(Repository, IsCreatedOnceAndFoundAgain) {
  TemporaryFolder folder;
  create(folder);
  EXPECT_EQ(readText(folder.path() + "/repository.yaml"), "format: 1\ncreated_by: autotune 0.1.0\n");
  EXPECT_EQ(messageOf(Repository::open(folder.path())), "");
  EXPECT_EQ(messageOf(Repository::open(folder.path(), {/*create=*/true, "9.9.9"})), "");
  EXPECT_THAT(readText(folder.path() + "/repository.yaml"), HasSubstr("0.1.0"));
}

TEST(Repository, KeepsTheBetterOfTwoRecords) {
  TemporaryFolder folder;
  Repository repository = create(folder);
  Workload workload = matmul(64, 64, 64);
  EXPECT_EQ(valueOf(repository.findOperator(kDevice, workload)), std::nullopt);
  EXPECT_EQ(valueOf(repository.put(operatorRecord(1.2))), PutResult::Added);
  EXPECT_EQ(valueOf(repository.put(operatorRecord(1.5))), PutResult::Improved);
  EXPECT_EQ(valueOf(repository.put(operatorRecord(1.3))), PutResult::Kept);
  EXPECT_EQ(valueOf(repository.put(operatorRecord(1.5))), PutResult::Kept);
  EXPECT_EQ(valueOf(repository.findOperator(kDevice, workload)), operatorRecord(1.5));
  EXPECT_EQ(valueOf(repository.findOperator("intel-6-143-avx512-l1_48k-l2_2048k", workload)), std::nullopt);
}

TEST(Repository, AFreshRecordReplacesAStaleOneThatClaimsMore) {
  TemporaryFolder folder;
  Repository repository = create(folder);
  OperatorRecord fresh = operatorRecord(1.1);
  fresh.provenance.codegen.number += 1;
  cantFail(repository.put(operatorRecord(1.9)));
  EXPECT_EQ(valueOf(repository.put(fresh)), PutResult::Improved);
}

TEST(Repository, StoresEveryTypeUnderItsFolderAndListsThem) {
  TemporaryFolder folder;
  Repository repository = create(folder);
  cantFail(repository.put(operatorRecord()));
  cantFail(repository.put(subgraphRecord()));
  cantFail(repository.put(modelRecord()));
  EXPECT_EQ(valueOf(repository.find<SubgraphRecord>(kDevice, "conv-chain", subgraphRecord().key())),
            subgraphRecord());
  EXPECT_EQ(valueOf(repository.find<ModelRecord>(kDevice, modelRecord().name, modelRecord().key())),
            modelRecord());
  std::vector<Diagnostic> diagnostics;
  std::vector<StoredRecord> records = repository.list(diagnostics);
  EXPECT_TRUE(diagnostics.empty());
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].file, (kDevice + "/model/" + recordFileName(modelRecord())).str());
  EXPECT_EQ(records[1].file, (kDevice + "/operator/" + recordFileName(operatorRecord())).str());
  EXPECT_EQ(records[2].file, (kDevice + "/subgraph/" + recordFileName(subgraphRecord())).str());
}

TEST(Repository, FindsTheNearestRecordsOfTheSameClass) {
  TemporaryFolder folder;
  Repository repository = create(folder);
  Workload integer = matmul(64, 64, 64), strict = matmul(64, 64, 64);
  integer.output.dtype = "i32";
  strict.numerics = Numerics::Strict;
  for (const Workload &workload :
       {matmul(64, 64, 64), matmul(64, 64, 256), matmul(64, 128, 64), integer, strict})
    cantFail(repository.put(operatorRecord(1.5, workload)));
  std::vector<Diagnostic> diagnostics;
  auto near = [&](const Workload &workload, size_t count) {
    return repository.findNear(kDevice, workload, count, diagnostics);
  };
  std::vector<NearRecord> found = near(matmul(64, 64, 64), 10);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].record.key(), matmul(64, 128, 64).key());
  EXPECT_EQ(found[0].distance, 1);
  EXPECT_EQ(found[1].distance, 2);
  EXPECT_EQ(near(matmul(64, 64, 200), 1).at(0).record.key(), matmul(64, 64, 256).key());
  // What this process writes is seen by its next lookup.
  cantFail(repository.put(operatorRecord(1.5, matmul(64, 64, 192))));
  EXPECT_EQ(near(matmul(64, 64, 200), 1).at(0).record.key(), matmul(64, 64, 192).key());
  EXPECT_TRUE(diagnostics.empty());
}

TEST(Repository, KeepsTheDeviceOfTheFirstRecords) {
  TemporaryFolder folder;
  Repository repository = create(folder);
  Device device{"AuthenticAMD", 25, 1, Isa::Avx2, 32 << 10, 512 << 10, 32 << 20, 2, std::nullopt};
  EXPECT_EQ(messageOf(repository.putDevice(device)), "");
  device.peaks = DevicePeaks{92, 300, 150, 20, 5000};
  EXPECT_EQ(messageOf(repository.putDevice(device)), "");
  EXPECT_TRUE(valueOf(repository.findDevice(kDevice))->peaks.has_value());
  device.cores = 64;
  EXPECT_EQ(messageOf(repository.putDevice(device)), "");
  EXPECT_EQ(valueOf(repository.findDevice(kDevice))->cores, 2);
  EXPECT_EQ(valueOf(repository.findDevice("other")).has_value(), false);
  EXPECT_EQ(repository.deviceKeys(), std::vector<std::string>{kDevice.str()});
  writeText(folder.path() + "/" + kDevice.str() + "/device.yaml", "garbage");
  EXPECT_THAT(messageOf(repository.findDevice(kDevice)), HasSubstr("device.yaml: "));
  EXPECT_EQ(messageOf(repository.putDevice(device)), "");
  EXPECT_EQ(valueOf(repository.findDevice(kDevice))->cores, 64);
}

/// Puts forty records in an order of its own; the best of all writers has 1 + 39/100 + writer/1000.
static void putMany(const std::string &directory, int writer) {
  Repository repository = cantFail(Repository::open(directory, {/*create=*/true, "0.1.0"}));
  for (int i = 0; i < 40; ++i)
    cantFail(repository.put(operatorRecord(1 + (i * 7 + writer) % 40 / 100.0 + writer / 1000.0)));
}

TEST(Repository, ConcurrentProcessesAndThreadsLoseNothing) {
  TemporaryFolder folder;
  std::vector<pid_t> children;
  for (int writer = 0; writer < 3; ++writer) {
    children.push_back(fork());
    if (children.back() == 0) {
      putMany(folder.path(), writer);
      _exit(0);
    }
  }
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  std::vector<std::thread> threads;
  for (int writer = 3; writer < 6; ++writer)
    threads.emplace_back(putMany, folder.path(), writer);
  for (std::thread &thread : threads)
    thread.join();

  Repository repository = cantFail(Repository::open(folder.path()));
  EXPECT_EQ(valueOf(repository.findOperator(kDevice, matmul(64, 64, 64)))->speedup.value, 1 + 0.39 + 0.005);
  std::vector<std::string> files;
  std::error_code code;
  for (llvm::sys::fs::recursive_directory_iterator entry(folder.path(), code), end; entry != end && !code;
       entry.increment(code))
    if (!llvm::sys::fs::is_directory(entry->path()))
      files.push_back(llvm::StringRef(entry->path()).drop_front(folder.path().size() + 1).str());
  EXPECT_THAT(files, testing::UnorderedElementsAre(
                         ".gitignore", "repository.yaml",
                         (kDevice + "/operator/" + recordFileName(operatorRecord())).str()));
}
