// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// YAML form and validity of partitions.
#include "schedule/Partition.h"
#include "TestGraphs.h"
#include "test/unit/Results.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace autotune;
using testing::HasSubstr;

static Partition residualPartition() { return {{{{0, 1}, 8, "direct"}, {{2}, 0, "direct"}}}; }

TEST(Partition, TextNamesEveryOperatorInAComment) {
  EXPECT_EQ(residualPartition().text(residualGraph()), "format: 1\n"
                                                       "subgraphs:\n"
                                                       "  - channel_block: 8\n"
                                                       "    algorithm: direct\n"
                                                       "    operators:\n"
                                                       "      - 0  # conv2d \"conv1\" 1x64x56x56\n"
                                                       "      - 1  # elementwise \"relu\\0A1\" 1x64x56x56\n"
                                                       "  - channel_block: 0\n"
                                                       "    algorithm: direct\n"
                                                       "    operators:\n"
                                                       "      - 2  # elementwise \"\" 1x64x56x56\n");
}

TEST(Partition, ParsingTheTextGivesTheSamePartition) {
  for (const Partition &partition : {residualPartition(), Partition()})
    EXPECT_EQ(valueOf(Partition::parse(partition.text(residualGraph()))), partition);
}

TEST(Partition, ParseErrorsGiveLineFoundAndExpected) {
  EXPECT_EQ(messageOf(Partition::parse("format: 2\nsubgraphs: []\n")),
            "partition line 1: found format '2', expected format 1");
  EXPECT_EQ(
      messageOf(Partition::parse("format: 1\nsubgraphs:\n  - channel_block: 8\n    algorithms: direct\n")),
      "partition line 4: found key 'algorithms', expected a map with the keys channel_block, "
      "algorithm, operators");
  EXPECT_EQ(messageOf(Partition::parse(
                "format: 1\nsubgraphs: [{channel_block: 8x, algorithm: direct, operators: []}]")),
            "partition line 2: found '8x', expected an integer");
  EXPECT_THAT(messageOf(Partition::parse("format: 1\nformat: 1\nsubgraphs: []\n")), HasSubstr("twice"));
  EXPECT_THAT(messageOf(Partition::parse("")), HasSubstr("found nothing"));
  EXPECT_THAT(messageOf(Partition::parse("a: [1")), HasSubstr("not YAML"));
  EXPECT_NE(messageOf(Partition::parse(std::string(100000, '['))), "");
}

TEST(Partition, NoDamageToTheTextCrashes) {
  const std::string text = residualPartition().text(residualGraph());
  for (size_t byte = 0; byte < text.size(); ++byte) {
    std::string damaged = text;
    damaged[byte] ^= 0x15;
    for (const std::string &candidate : {damaged, text.substr(0, byte)})
      if (llvm::Expected<Partition> partition = Partition::parse(candidate))
        llvm::consumeError(partition->verify(residualGraph()));
      else
        llvm::consumeError(partition.takeError());
  }
}

TEST(Partition, AValidPartitionVerifies) {
  EXPECT_EQ(messageOf(residualPartition().verify(residualGraph())), "");
}

TEST(Partition, VerifyNamesTheOffenders) {
  auto verify = [](std::vector<Subgraph> subgraphs) {
    return Partition{std::move(subgraphs)}.verify(residualGraph());
  };
  EXPECT_EQ(messageOf(verify({{{0, 1}}})),
            "partition: found operator 2 ('') in no subgraph, expected it once");
  EXPECT_THAT(messageOf(verify({{{0, 1}}, {{1, 2}}})), HasSubstr("in subgraphs 0 and 1"));
  EXPECT_THAT(messageOf(verify({{{0, 1, 3}}})), HasSubstr("found operator 3, expected 0 to 2"));
  EXPECT_THAT(messageOf(verify({{{1, 0, 2}}})), HasSubstr("expected ascending"));
  EXPECT_THAT(messageOf(verify({{{0, 1, 2}, 5}})), HasSubstr("found channel_block 5"));
  EXPECT_THAT(messageOf(verify({{{0, 1, 2}, 8, "magic"}})), HasSubstr("found algorithm 'magic'"));
  EXPECT_THAT(messageOf(verify({{{0, 1, 2}}, {}})), HasSubstr("found no operators"));
}

TEST(Partition, VerifyFindsCyclesAndWrongOrder) {
  auto verify = [](std::vector<Subgraph> subgraphs) {
    return Partition{std::move(subgraphs)}.verify(residualGraph());
  };
  EXPECT_EQ(messageOf(verify({{{0, 2}}, {{1}}})),
            "partition: found a cycle through subgraphs 0, 1, expected none");
  EXPECT_EQ(messageOf(verify({{{1}}, {{0}}, {{2}}})),
            "partition: subgraph 0: operator 1 ('relu\\0A1') reads operator 0 ('conv1') of "
            "subgraph 1, expected producers first");
}

TEST(Partition, WinogradIsForTheConvolutionsThatItCanCompute) {
  Partition partition{{{{0, 1}, 8, "winograd4"}, {{2}, 8, "direct"}}};
  Graph graph = residualGraph();
  EXPECT_THAT(messageOf(partition.verify(graph)), HasSubstr("found algorithm 'winograd4' for operator 0"));
  graph.operators[0].minimalFiltering = true;
  EXPECT_EQ(messageOf(partition.verify(graph)), "");
  EXPECT_THAT(messageOf(partition.verify(graph, Numerics::Strict)), HasSubstr("under numerics strict"));
  partition.subgraphs[1].algorithm = "winograd2";
  EXPECT_THAT(messageOf(partition.verify(graph)), HasSubstr("subgraph 1: found algorithm 'winograd2'"));
}
