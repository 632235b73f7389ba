// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which algorithms a convolution may have, and which one the cost model picks.
#include "tuner/Algorithms.h"
#include "cost_model/AnalyticalModel.h"
#include "test/unit/schedule/TestWorkloads.h"
#include "tuner/Region.h"
#include "tuner/RegionChoice.h"

#include <gmock/gmock.h>

using namespace autotune;
using testing::ElementsAre;

namespace {

/// One convolution of stride 1 without its padding.
Graph convolution(int64_t in, int64_t out, int64_t size, bool minimal = true) {
  Graph graph;
  graph.tensors = {{{1, in, size + 2, size + 2}, "f32", -1, false},
                   {{out, in, 3, 3}, "f32", -1, true},
                   {{1, out, size, size}, "f32", 0, false}};
  GraphOperator conv;
  conv.label = "c";
  conv.kind = "conv2d";
  conv.layout = LayoutRole::Anchor;
  conv.fusion = FusionRole::Root;
  conv.inputs = {0, 1};
  conv.output = 2;
  conv.minimalFiltering = minimal;
  graph.operators = {conv};
  graph.outputs = {2};
  return graph;
}

Subgraph blocked(int block) { return {{0}, block, "direct"}; }

std::string cheapest(const Graph &graph, Numerics numerics = Numerics::Default) {
  Device device = testDevice();
  AnalyticalModel model(device);
  return AlgorithmPricer(device, model, 1, numerics).cheapest(graph, blocked(8));
}

} // namespace

TEST(Algorithms, WinogradNeedsWholeBlocksAndRoundsDifferently) {
  Graph graph = convolution(64, 64, 56);
  EXPECT_THAT(algorithmsOf(graph, blocked(8), Numerics::Default), ElementsAre("direct", "winograd2", "winograd4"));
  EXPECT_THAT(algorithmsOf(graph, blocked(8), Numerics::Strict), ElementsAre("direct"));
  EXPECT_THAT(algorithmsOf(graph, blocked(0), Numerics::Default), ElementsAre("direct"));
  EXPECT_THAT(algorithmsOf(convolution(3, 64, 56), blocked(8), Numerics::Default), ElementsAre("direct"));
  EXPECT_THAT(algorithmsOf(convolution(64, 64, 56, false), blocked(8), Numerics::Default), ElementsAre("direct"));
}

TEST(Algorithms, TheModelPrefersFewerProductsWhereTheyArePaidFor) {
  EXPECT_EQ(cheapest(convolution(64, 64, 56)), "winograd4");
  EXPECT_EQ(cheapest(convolution(64, 64, 56), Numerics::Strict), "direct");
  EXPECT_NE(cheapest(convolution(512, 512, 7)), "winograd4") << "its filters are four times as large and read once";
}

TEST(Algorithms, EverySubgraphGetsOne) {
  Graph graph = convolution(64, 64, 56);
  Partition partition = {{blocked(8)}};
  Device device = testDevice();
  AnalyticalModel model(device);
  AlgorithmPricer(device, model, 1, Numerics::Default).assign(graph, partition);
  EXPECT_EQ(partition.subgraphs[0].algorithm, "winograd4");
}

TEST(Algorithms, TheLayoutIsPartOfTheRegion) {
  Graph graph = convolution(64, 64, 56);
  Region eight = convolutionRegion(graph, blocked(8), 1, Numerics::Default);
  EXPECT_EQ(eight.name, "conv");
  EXPECT_NE(eight.key(), convolutionRegion(graph, blocked(16), 1, Numerics::Default).key());
}

TEST(RegionChoice, DecisionsRoundTrip) {
  for (const RegionChoice &choice : {RegionChoice{0, ""}, RegionChoice{16, "winograd2"}}) {
    llvm::Expected<RegionChoice> parsed = RegionChoice::parse(choice.decisions());
    ASSERT_TRUE(bool(parsed));
    EXPECT_EQ(*parsed, choice);
  }
  EXPECT_EQ((RegionChoice{16, "winograd2"}).text(), "NCHW16c winograd2");
  EXPECT_EQ((RegionChoice{0, ""}).text(), "plain");
}
