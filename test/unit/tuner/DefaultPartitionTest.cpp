// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tails join their roots where that is legal, and nowhere else.
#include "tuner/DefaultPartition.h"
#include "test/unit/Results.h"
#include "test/unit/tuner/GraphBuilder.h"
#include "tuner/DataflowGraph.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <random>

using namespace autotune;
using testing::ElementsAre;

/// Operators of each subgraph; the partition is checked on the way.
static std::vector<std::vector<int>> groupsOf(const Graph &graph, int block = 0) {
  Partition partition = defaultPartition(graph, block);
  EXPECT_EQ(messageOf(partition.verify(graph)), "") << partition.text(graph);
  std::vector<std::vector<int>> groups;
  for (const Subgraph &subgraph : partition.subgraphs)
    groups.push_back(subgraph.operators);
  return groups;
}

using Groups = std::vector<std::vector<int>>;

TEST(DefaultPartition, AChainOfTailsJoinsItsRoot) {
  GraphBuilder b;
  int x = b.input();
  int y = b.map({b.map({b.conv({x})})});
  EXPECT_EQ(groupsOf(b.finish({b.conv({y})})), (Groups{{0, 1, 2}, {3}}));
}

TEST(DefaultPartition, AResidualAdditionJoinsTheLatestProducer) {
  GraphBuilder b;
  int x = b.map({b.conv({b.input()})});       // 0, 1
  int main = b.conv({b.map({b.conv({x})})});  // 2, 3, 4
  int shortcut = b.conv({x});                 // 5
  int sum = b.map({b.map({main, shortcut})}); // 6, 7
  EXPECT_EQ(groupsOf(b.finish({b.conv({sum})})), (Groups{{0, 1}, {2, 3}, {4}, {5, 6, 7}, {8}}));
}

TEST(DefaultPartition, AnIdentityShortcutIsReadByTheTail) {
  GraphBuilder b;
  int x = b.map({b.conv({b.input()})});
  int sum = b.map({b.conv({x}), x});
  EXPECT_EQ(groupsOf(b.finish({sum})), (Groups{{0, 1}, {2, 3}}));
}

TEST(DefaultPartition, AValueReadTwiceTakesEverythingUpToTheMeetingPoint) {
  GraphBuilder b;
  int x = b.conv({b.input()});
  int swish = b.map({x, b.map({b.map({x})})});
  EXPECT_EQ(groupsOf(b.finish({b.conv({swish})})), (Groups{{0, 1, 2, 3}, {4}}));
}

TEST(DefaultPartition, ADiamondThatWouldMakeACycleStaysApart) {
  GraphBuilder b;
  int x = b.conv({b.input()});
  int other = b.conv({x});     // leaves the subgraph of operator 0 …
  int sum = b.map({x, other}); // … and would come back into it
  EXPECT_EQ(groupsOf(b.finish({sum})), (Groups{{0}, {1, 2}}));
}

TEST(DefaultPartition, AReturnedValueKeepsItsSubgraphEnd) {
  GraphBuilder b;
  int x = b.conv({b.input()});
  EXPECT_EQ(groupsOf(b.finish({b.map({x}), x})), (Groups{{0}, {1}}));
}

TEST(DefaultPartition, OtherShapesDoNotJoin) {
  GraphBuilder b;
  int x = b.conv({b.input()});
  b.shape = {2, 64, 56, 56};
  EXPECT_EQ(groupsOf(b.finish({b.map({x})})), (Groups{{0}, {1}}));
}

TEST(DefaultPartition, ElementwiseChainsWithoutARootJoin) {
  GraphBuilder b;
  EXPECT_EQ(groupsOf(b.finish({b.map({b.map({b.input()})})})), (Groups{{0, 1}}));
}

TEST(DefaultPartition, ViewsAndMovementStandAlone) {
  GraphBuilder b;
  int moved = b.map({b.move({b.map({b.view({b.matmul({b.input()})})})})});
  Graph graph = b.finish({moved});
  EXPECT_EQ(groupsOf(graph), (Groups{{0}, {1}, {2}, {3}, {4}}));
  EXPECT_EQ(defaultPartition(graph, 0).subgraphs[1].algorithm, "view");
}

TEST(DefaultPartition, AFillJoinsItsOnlyReader) {
  GraphBuilder b;
  int zero = b.fill(), one = b.fill();
  int y = b.map({b.matmul({b.input(), zero}), one});
  EXPECT_EQ(groupsOf(b.finish({y, b.map({one})})), (Groups{{1}, {0, 2, 3}, {4}}));
}

TEST(DefaultPartition, PlainOperatorsDoNotJoinABlockedRoot) {
  GraphBuilder b;
  Graph graph = b.finish({b.map({b.conv({b.input()})}, LayoutRole::Plain)});
  EXPECT_EQ(groupsOf(graph, 8), (Groups{{0}, {1}}));
  EXPECT_EQ(groupsOf(graph, 0), (Groups{{0, 1}}));
}

TEST(LayoutChains, AreConnectedByBlockableValuesAndHoldAnAnchor) {
  GraphBuilder b;
  int a = b.pool({b.map({b.conv({b.input()})})}); // 0, 1, 2: one chain
  int plain = b.map({b.matmul({b.view({a})})});   // 5 could be blocked but has no anchor
  int c = b.conv({b.view({plain})});              // 7: another chain
  Graph graph = b.finish({c});
  EXPECT_THAT(layoutChains(graph), ElementsAre(LayoutChain{{0, 1, 2}}, LayoutChain{{7}}));
  std::vector<int> blocks;
  for (const Subgraph &subgraph : partitionWith(graph, layoutChains(graph), {8, 16}).subgraphs)
    blocks.push_back(subgraph.channelBlock);
  EXPECT_THAT(blocks, ElementsAre(8, 8, 0, 0, 0, 16));
}

/// Random graphs of every kind of operator: always legal, always the same.
TEST(DefaultPartition, IsLegalAndRepeatableOnRandomGraphs) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    GraphBuilder b;
    std::vector<int> values = {b.input()};
    auto any = [&] { return values[values.size() - 1 - random() % std::min<size_t>(values.size(), 4)]; };
    for (int i = 0; i < 25; ++i)
      switch (random() % 6) {
      case 0:
        values.push_back(b.conv({any()}));
        break;
      case 1:
        values.push_back(random() % 4 ? b.move({any()}) : b.view({any()}));
        break;
      case 2:
        values.push_back(random() % 4 ? b.map({any()}, LayoutRole::Plain) : b.fill());
        break;
      default:
        values.push_back(b.map({any(), any()}));
      }
    Graph graph = b.finish({values.back()});
    for (int block : {0, 8})
      EXPECT_EQ(groupsOf(graph, block), groupsOf(graph, block)) << seed;
  }
}

TEST(DataflowGraph, MeetingPointsAreImmediatePostDominators) {
  GraphBuilder b;
  int x = b.conv({b.input()});
  int left = b.map({x}), right = b.conv({x});
  Graph graph = b.finish({b.map({left, right})});
  DataflowGraph flow(graph);
  EXPECT_EQ(flow.meetingPoint(0), 3);
  EXPECT_THAT(flow.between(0, 3), ElementsAre(1, 2));
  EXPECT_EQ(flow.meetingPoint(3), std::nullopt);
  EXPECT_THAT(flow.producers(3), ElementsAre(1, 2));
}
