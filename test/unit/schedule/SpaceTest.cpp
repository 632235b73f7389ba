// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Spaces hold few knobs, only legal values, and the register tiles known to be good.
#include "schedule/Space.h"
#include "schedule/LoopNest.h"
#include "schedule/LoopRoles.h"
#include "test/unit/Results.h"
#include "test/unit/schedule/TestWorkloads.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <random>

using namespace autotune;
using testing::Contains;
using testing::ElementsAre;

static Schedule pick(const Space &space, std::mt19937 *random) {
  Schedule schedule;
  for (const Knob &knob : space.knobs)
    schedule.knobs[knob.name] = random ? knob.values[(*random)() % knob.values.size()] : knob.values.front();
  return schedule;
}

static std::vector<int64_t> valuesOf(const Space &space, llvm::StringRef name) {
  for (const Knob &knob : space.knobs)
    if (knob.name == name)
      return knob.values;
  return {};
}

static std::vector<std::string> namesOf(const Workload &workload) {
  return knobNames(workload, loopRoles(workload));
}

TEST(Space, FirstValuesAreAValidScheduleEverywhere) {
  for (Isa isa : {Isa::Avx2, Isa::Avx512})
    for (int threads : {1, 2})
      for (const Workload &workload : testWorkloads(threads)) {
        Space space = buildSpace(workload, testDevice(isa));
        EXPECT_TRUE(space.contains(workload, pick(space, nullptr))) << workload.text();
        EXPECT_GE(space.size(), 1);
        EXPECT_LE(space.knobs.size(), 9u);
      }
}

TEST(Space, KnobsAreSortedAndValuesAscend) {
  for (const Workload &workload : testWorkloads(2)) {
    Space space = buildSpace(workload, testDevice());
    EXPECT_TRUE(std::is_sorted(space.knobs.begin(), space.knobs.end(),
                               [](const Knob &a, const Knob &b) { return a.name < b.name; }));
    for (const Knob &knob : space.knobs) {
      ASSERT_FALSE(knob.values.empty()) << knob.name << " of\n" << workload.text();
      EXPECT_EQ(std::adjacent_find(knob.values.begin(), knob.values.end(), std::greater_equal<int64_t>()),
                knob.values.end())
          << knob.name;
    }
  }
}

TEST(Space, RandomSchedulesBuildNestsAndMembersFitTheRegisters) {
  std::mt19937 random(1);
  for (const Workload &workload : testWorkloads(2)) {
    Space space = buildSpace(workload, testDevice());
    int members = 0;
    for (int i = 0; i < 200; ++i) {
      Schedule schedule = pick(space, &random);
      bool member = space.contains(workload, schedule);
      members += member;
      if (!member)
        continue;
      LoopNest nest = valueOf(buildLoopNest(workload, schedule));
      EXPECT_LE(registersNeeded(workload, loopRoles(workload), nest.registerTile(workload), 8), 16)
          << schedule.text();
    }
    EXPECT_GT(members, 0) << workload.text();
  }
}

TEST(Space, SixByTwoVectorsIsATileOfEveryAvx2Contraction) {
  Workload conv = blockedConvolution(64, 64, 28, 3);
  Space space = buildSpace(conv, testDevice());
  EXPECT_THAT(valuesOf(space, "rows"), Contains(6));
  EXPECT_THAT(valuesOf(space, "planes"), Contains(2));
  EXPECT_EQ(registersNeeded(conv, loopRoles(conv), {1, 1, 6, 2, 8}, 8), 15);
  EXPECT_THAT(valuesOf(buildSpace(plainMatmul(512, 512, 512), testDevice()), "cols"),
              ElementsAre(8, 16, 32));
}

TEST(Space, FourteenByThirtyTwoIsATileOfAvx512Contractions) {
  Workload conv = blockedConvolution(64, 64, 56, 3, 16);
  Space space = buildSpace(conv, testDevice(Isa::Avx512));
  EXPECT_THAT(valuesOf(space, "rows"), Contains(14));
  EXPECT_EQ(registersNeeded(conv, loopRoles(conv), {1, 1, 14, 2, 16}, 16), 31);
}

TEST(Space, RowsCutTheExtentEvenly) {
  EXPECT_THAT(valuesOf(buildSpace(blockedConvolution(256, 256, 14, 3), testDevice()), "rows"),
              ElementsAre(1, 2, 3, 4, 5, 7, 14));
  EXPECT_THAT(valuesOf(buildSpace(blockedConvolution(512, 512, 7, 3), testDevice()), "rows"),
              ElementsAre(1, 2, 3, 4, 7));
}

TEST(Space, OneThreadHasNoParallelKnobs) {
  EXPECT_THAT(namesOf(blockedConvolution(64, 64, 56, 3)),
              ElementsAre("cache_planes", "cache_rows", "order", "planes", "rows", "unroll"));
  EXPECT_THAT(
      namesOf(blockedConvolution(64, 64, 56, 3, 8, 2)),
      ElementsAre("cache_planes", "cache_rows", "chunks", "order", "parallel", "planes", "rows", "unroll"));
  EXPECT_THAT(namesOf(depthwiseConvolution(96, 112)), ElementsAre("rows", "unroll"));
}

TEST(Space, OtherKnobsOrValuesAreNotMembers) {
  Workload w = packedMatmul(128, 768, 768);
  Space space = buildSpace(w, testDevice());
  Schedule schedule = pick(space, nullptr);
  schedule.knobs["rows"] = 13;
  EXPECT_FALSE(space.contains(w, schedule));
  schedule = pick(space, nullptr);
  schedule.knobs.erase("rows");
  EXPECT_FALSE(space.contains(w, schedule));
  schedule = pick(space, nullptr);
  schedule.knobs["rows"] = 8;
  schedule.knobs["planes"] = 2;
  EXPECT_FALSE(space.contains(w, schedule)) << "32 accumulators in 16 registers";
}
