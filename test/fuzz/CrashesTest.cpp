// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inputs that once crashed the importer, or took all time or memory, and the fuzzer's seeds: each gives a
// module or one line of error, soon.
#include "test/fuzz/ImportBytes.h"

#include "llvm/Support/MemoryBuffer.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <sys/resource.h>

namespace {

std::vector<std::string> filesIn(const char *folder, const char *extension) {
  std::vector<std::string> files;
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == extension)
      files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

std::string importFile(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? autotune::test::importBytes((*buffer)->getBuffer()) : buffer.getError().message();
}

TEST(FuzzCrashes, EveryKeptInputIsImportedOrRefusedInOneLine) {
  std::vector<std::string> files = filesIn(AUTOTUNE_CRASHES, ".onnx");
  ASSERT_FALSE(files.empty());
  for (const std::string &path : files) {
    SCOPED_TRACE(path);
    auto start = std::chrono::steady_clock::now();
    std::string error = importFile(path);
    // The fuzzer's limit is 5 s; this one leaves room for a busy machine.
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
    EXPECT_THAT(error, testing::Not(testing::HasSubstr("\n")));
    EXPECT_THAT(error, testing::Not(testing::HasSubstr("please report this")));
  }
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  EXPECT_LT(usage.ru_maxrss >> 10, 2048) << "MB";
}

TEST(FuzzCorpus, EverySeedIsAModel) {
  std::vector<std::string> files = filesIn(AUTOTUNE_SEEDS, ".onnx");
  ASSERT_FALSE(files.empty());
  for (const std::string &path : files)
    EXPECT_EQ(importFile(path), "") << path;
}

} // namespace
