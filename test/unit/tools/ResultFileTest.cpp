// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/ResultFile.h"

#include "llvm/Support/MemoryBuffer.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace autotune;
using testing::HasSubstr;

namespace {

TuneResult sample() {
  TuneResult result;
  result.model = "m";
  result.device = {"AuthenticAMD", 25, 1, Isa::Avx2, 32768, 524288, 1 << 25, 2, {}};
  result.untuned = {2.0, TimeSource::Stored};
  result.tuned = {1.6, TimeSource::Measured};
  result.measurements = 12;
  result.failures = {{"compile", "no registers", 3}};
  result.lookup = {5, 4, 3, 2, 1};
  result.records = {7, 6, 5, 4};
  result.memory.add(1000, 5000, 200);
  result.memory.add(2000, 4000, 300);
  ResultEntry entry;
  entry.name = "conv1";
  entry.kind = "conv2d";
  entry.count = 2;
  entry.beforeMs = 0.5;
  entry.afterMs = 0.3;
  result.operators = {entry, ResultEntry()};
  return result;
}

TEST(ResultFileTest, JsonHasTheStableFields) {
  llvm::json::Object json = resultJson(sample());
  EXPECT_EQ(json.getInteger("schema_version"), 1);
  EXPECT_EQ(json.getNumber("untuned_ms"), 2.0);
  EXPECT_EQ(json.getString("untuned_source"), "stored");
  EXPECT_EQ(json.getString("tuned_source"), "measured");
  EXPECT_DOUBLE_EQ(*json.getNumber("speedup"), 1.25);
  EXPECT_NEAR(*json.getNumber("latency_cut_percent"), 20, 1e-9);
  EXPECT_EQ(json.getInteger("measurements"), 12);
  EXPECT_EQ(json.getArray("modes")->size(), 2u);
  EXPECT_EQ(json.getArray("failures")->front().getAsObject()->getInteger("count"), 3);
  EXPECT_EQ(json.getObject("lookup")->getInteger("default"), 2);
  EXPECT_EQ(json.getObject("records")->getInteger("rejected_as_noise"), 4);
  EXPECT_EQ(json.getObject("memory")->getInteger("arena_bytes"), 2000) << "one arena for all profiles";
  EXPECT_EQ(json.getObject("memory")->getInteger("tensor_bytes"), 5000);
  EXPECT_EQ(json.getObject("memory")->getInteger("constants_bytes"), 500) << "each has constants of its own";
  EXPECT_EQ(json.getArray("operators")->front().getAsObject()->getNumber("before_ms"), 0.5);
  EXPECT_EQ((*json.getArray("operators"))[1].getAsObject()->get("before_ms")->kind(),
            llvm::json::Value::Null);
}

TEST(ResultFileTest, TableNamesBothFigures) {
  std::string text;
  llvm::raw_string_ostream out(text);
  printResult(sample(), out);
  EXPECT_THAT(text, HasSubstr("1.25x"));
  EXPECT_THAT(text, HasSubstr("latency cut 20.0 %"));
  EXPECT_THAT(text, HasSubstr("conv1"));
  EXPECT_THAT(text, HasSubstr("12 candidates measured, 3 failed"));
}

TEST(ResultFileTest, FilesAreReplacedWhole) {
  std::filesystem::path folder = testing::TempDir() + "/result_file_" + std::to_string(getpid());
  std::filesystem::create_directories(folder);
  std::string path = folder / "result.json";
  EXPECT_EQ(llvm::toString(writeFileAtomically(path, "one")), "");
  EXPECT_EQ(llvm::toString(writeFileAtomically(path, "two")), "");
  EXPECT_EQ((*llvm::MemoryBuffer::getFile(path))->getBuffer(), "two");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  EXPECT_THAT(llvm::toString(writeFileAtomically(path + "/x", "three")), HasSubstr("cannot write"));
  std::filesystem::remove_all(folder);
}

} // namespace
