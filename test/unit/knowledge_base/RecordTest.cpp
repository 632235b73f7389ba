// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text of records: round trip, damage, and the total order.
#include "TestRecords.h"
#include "knowledge_base/DeviceMatch.h"
#include "test/unit/Results.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace autotune;
using testing::HasSubstr;

TEST(Record, TextIsTheDocumentedForm) {
  OperatorRecord record = operatorRecord();
  std::string content =
      "format: 1\n"
      "record: operator\n"
      "name: matmul\n"
      "device: amd-25-1-avx2-l1_32k-l2_512k\n"
      "outcome: improved\n"
      "speedup:\n  value: 1.5\n  low: 1.49\n  high: 1.51\n"
      "tuned:\n  median_ns: 666666.6666666666\n  spread_ns: 1234.5\n  runs: 20\n"
      "untuned:\n  median_ns: 1e+06\n  spread_ns: 2000\n  runs: 20\n"
      "check:\n  standard: contraction\n  metrics:\n    bound: 3e-06\n    max_error: 1.25e-07\n"
      "provenance:\n  tool_version: 0.1.0\n  llvm_version: 19.1.7\n  codegen_version: 3\n"
      "  date: 2026-11-30T08:41:06Z\n  seed: 18446744073709551615\n  trials: 64\n"
      "key_text: |\n"
      "  kind: matmul\n"
      "  class: contraction\n"
      "  dims: p64 p64 r64\n"
      "  input: f32 [64x64] +[0,0] (d0, d2)\n"
      "  input: f32 [64x64] +[0,0] (d2, d1) const\n"
      "  output: f32 [64x64] +[0,0] (d0, d1)\n"
      "  epilogue: arith.addf\n"
      "  body: none\n"
      "  threads: 1\n"
      "  numerics: default\n"
      "schedule: columns=16 rows=6\n"
      "untuned_schedule: columns=8 rows=4\n";
  EXPECT_EQ(recordText(record), content + "checksum: " + hashText(content) + "\n");
}

template <typename Record> static void expectRoundTrip(const Record &record) {
  EXPECT_EQ(valueOf(parseRecord<Record>(recordText(record))), record) << recordText(record);
}

TEST(Record, EveryTypeRoundTrips) {
  expectRoundTrip(operatorRecord());
  expectRoundTrip(subgraphRecord());
  expectRoundTrip(modelRecord());
}

TEST(Record, OddTextsRoundTrip) {
  for (const char *odd : {"",
                          " ",
                          "null",
                          "~",
                          "- a",
                          "a: b",
                          "a #b",
                          "x:",
                          "'q'",
                          "\"",
                          "\\",
                          "tab\there",
                          "two\nlines",
                          "ends\n",
                          "\nstarts\n",
                          " led\n",
                          "blank\n\nline\n",
                          "many\n\n",
                          "ü",
                          "[1",
                          "{",
                          "&a",
                          "*a",
                          "%",
                          "a  b",
                          "0x10",
                          "true",
                          "|",
                          "---\n",
                          "#c\n",
                          "\x01"}) {
    SubgraphRecord record = subgraphRecord();
    record.name = record.keyText = record.check.standard = record.provenance.date = odd;
    record.decisions = {{odd, odd}, {"b", odd}};
    record.check.metrics = {{odd, 1}};
    expectRoundTrip(record);
  }
}

TEST(Record, EmptyCollectionsRoundTrip) {
  SubgraphRecord subgraph = subgraphRecord();
  subgraph.decisions.clear();
  subgraph.alternatives.clear();
  subgraph.check.metrics.clear();
  expectRoundTrip(subgraph);
  subgraph.alternatives.resize(2);
  expectRoundTrip(subgraph);
  ModelRecord model = modelRecord();
  model.schedules.clear();
  expectRoundTrip(model);
}

TEST(Record, CarriageReturnsOfACheckoutAreRead) {
  std::string text;
  for (char c : recordText(operatorRecord()))
    text += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_EQ(valueOf(parseRecord<OperatorRecord>(text)), operatorRecord());
}

template <typename Record> static void expectDamageIsFound(const Record &record) {
  const std::string text = recordText(record);
  for (size_t length = 0; length < text.size(); ++length)
    EXPECT_NE(messageOf(parseRecord<Record>(text.substr(0, length))), "") << length;
  for (size_t byte = 0; byte < text.size(); ++byte)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = text;
      damaged[byte] ^= char(1 << bit);
      EXPECT_NE(messageOf(parseRecord<Record>(damaged)), "") << byte;
    }
}

TEST(Record, EveryTruncationAndEveryFlippedBitIsFound) {
  expectDamageIsFound(operatorRecord());
  expectDamageIsFound(subgraphRecord());
  expectDamageIsFound(modelRecord());
}

/// What the reader says about a record in which `from` became `to` and whose checksum fits.
static std::string afterEdit(const std::string &from, const std::string &to) {
  std::string text = recordText(operatorRecord());
  text.replace(text.find(from), from.size(), to);
  text.erase(text.rfind("checksum: "));
  text += "checksum: " + hashText(text) + "\n";
  return messageOf(parseRecord<OperatorRecord>(text));
}

TEST(Record, ErrorsSayLineFoundAndExpected) {
  EXPECT_EQ(afterEdit("format: 1", "format: 2"), "line 1: found format 2, expected format 1");
  EXPECT_EQ(afterEdit("record: operator", "record: model"), "line 2: found 'model', expected 'operator'");
  EXPECT_EQ(afterEdit("outcome: improved\n", "mood: good\noutcome: improved\n"),
            "line 5: found key 'mood', expected key 'outcome'");
  EXPECT_EQ(afterEdit("outcome: improved\n", ""), "line 5: found key 'speedup', expected key 'outcome'");
  EXPECT_EQ(afterEdit("improved", "great"), "line 5: found 'great', expected one of: improved, default-best");
  EXPECT_EQ(afterEdit("value: 1.5", "value: inf"), "line 7: found 'inf', expected a finite number");
  EXPECT_EQ(afterEdit("value: 1.5", "value: -1"), "found speedup -1.00, expected more than 0");
  EXPECT_EQ(afterEdit("seed: 1", "seed: -1"),
            "line 28: found '-18446744073709551615', expected an integer of at least 0");
  EXPECT_THAT(afterEdit("columns=16", "columns=a"), HasSubstr("found 'columns=a', expected NAME=INTEGER"));
  EXPECT_THAT(afterEdit("p64 p64", "p64 x64"), HasSubstr("key_text: workload line 3: found 'x64 r64'"));
  EXPECT_THAT(afterEdit("name: matmul", "name: conv2d"), HasSubstr("found name 'conv2d', expected"));
  EXPECT_THAT(afterEdit("untuned_schedule: columns=8 rows=4", "untuned_schedule: ''\nmore: 1"),
              HasSubstr("found key 'more', expected no more keys"));
  EXPECT_THAT(messageOf(parseRecord<OperatorRecord>("<<<<<<< HEAD\n")), HasSubstr("found '<<<<<<< HEAD'"));
}

TEST(Record, FileNamesAreLegalWhateverTheName) {
  EXPECT_EQ(recordFileName(operatorRecord()), "matmul-" + matmul(64, 64, 64).key() + ".yaml");
  EXPECT_EQ(fileNamePart("../a b\n"), "_._a_b_");
  EXPECT_EQ(fileNamePart(""), "_");
  EXPECT_EQ(fileNamePart(std::string(500, 'x')).size(), 64u);
}

TEST(Record, ANewerCodeGeneratorThenTheSpeedupThenTheHashDecides) {
  OperatorRecord slow = operatorRecord(1.2), fast = operatorRecord(1.3), newer = operatorRecord(1.1);
  EXPECT_TRUE(isBetter(fast, slow));
  EXPECT_FALSE(isBetter(slow, fast));
  newer.provenance.codegen.number = 4;
  EXPECT_TRUE(isBetter(newer, fast));
  newer.provenance.codegen = {"19.1.10", 0};
  EXPECT_TRUE(isBetter(newer, fast));
  OperatorRecord twin = fast;
  twin.provenance.seed = 7;
  EXPECT_NE(isBetter(twin, fast), isBetter(fast, twin));
  EXPECT_TRUE(isBetter(fast, fast));
}

TEST(Record, TheWinnerOfAMergeDoesNotDependOnTheOrder) {
  std::vector<OperatorRecord> records;
  for (double speedup : {1.0, 1.4, 1.4, 1.2})
    for (int64_t number : {2, 3}) {
      records.push_back(operatorRecord(speedup));
      records.back().provenance.codegen.number = number;
      records.back().provenance.seed = records.size();
    }
  auto better = [](const OperatorRecord &a, const OperatorRecord &b) { return isBetter(a, b) && !(a == b); };
  auto winner = [&] { return *std::min_element(records.begin(), records.end(), better); };
  const OperatorRecord expected = winner();
  for (size_t turn = 0; turn < records.size(); ++turn) {
    std::rotate(records.begin(), records.begin() + 1, records.end());
    EXPECT_EQ(winner(), expected);
    for (const OperatorRecord &a : records)
      for (const OperatorRecord &b : records)
        for (const OperatorRecord &c : records)
          EXPECT_FALSE(better(a, b) && better(b, c) && !better(a, c));
  }
}

TEST(Record, StaleMeansAnotherCodeGenerator) {
  OperatorRecord record = operatorRecord();
  EXPECT_FALSE(record.isStale({"19.1.7", 3}));
  EXPECT_TRUE(record.isStale({"19.1.7", 4}));
  EXPECT_TRUE(record.isStale({"19.1.8", 3}));
}

static Device zen3() {
  return {"AuthenticAMD", 25, 1, Isa::Avx2, 32 << 10, 512 << 10, 32 << 20, 2, std::nullopt};
}

TEST(DeviceMatch, TextRoundTripsWithAndWithoutPeaks) {
  Device device = zen3();
  EXPECT_EQ(deviceText(valueOf(parseDevice(deviceText(device)))), deviceText(device));
  device.peaks = DevicePeaks{92.5, 300, 150, 20, 5000};
  Device back = valueOf(parseDevice(deviceText(device)));
  ASSERT_TRUE(back.peaks.has_value());
  EXPECT_EQ(back.peaks->fmaGflops, 92.5);
  EXPECT_EQ(back.key(), device.key());
  EXPECT_THAT(messageOf(parseDevice("format: 1\nvendor: x\nfamily: y\n")), HasSubstr("line 3: found 'y'"));
}

TEST(DeviceMatch, SaysWhichFieldDiffers) {
  EXPECT_EQ(compareDevices(zen3(), zen3()).kind, DeviceMatchKind::Exact);
  Device other = zen3();
  other.cores = 64;
  DeviceMatch match = compareDevices(other, zen3());
  EXPECT_EQ(match.kind, DeviceMatchKind::Compatible);
  EXPECT_EQ(match.difference, "cores: 64 in the record, 2 here");
  other.l2Bytes = 1 << 20;
  match = compareDevices(other, zen3());
  EXPECT_EQ(match.kind, DeviceMatchKind::Miss);
  EXPECT_EQ(match.difference, "l2_bytes: 1048576 in the record, 524288 here");
  other.isa = Isa::Avx512;
  EXPECT_EQ(compareDevices(other, zen3()).difference, "isa: avx512 in the record, avx2 here");
}
