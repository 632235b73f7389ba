// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moves stay inside the space.
#include "tuner/SpaceWalk.h"
#include "test/unit/tuner/FakeMeasurer.h"
#include "tuner/ModelSearch.h"

#include "gtest/gtest.h"

using namespace autotune;

TEST(SpaceWalk, EveryMoveIsAMember) {
  for (const Workload &workload : testWorkloads(2)) {
    Space space = buildSpace(workload, testDevice());
    SpaceWalk walk(workload, space);
    Random random(3);
    EXPECT_TRUE(walk.contains(walk.first()));
    std::optional<Schedule> left = walk.random(random), right = walk.random(random);
    ASSERT_TRUE(left && right) << workload.text();
    for (int i = 0; i < 50; ++i) {
      if (std::optional<Schedule> child = walk.mutate(*left, random))
        EXPECT_TRUE(walk.contains(*child) && *child != *left);
      if (std::optional<Schedule> child = walk.cross(*left, *right, random))
        EXPECT_TRUE(walk.contains(*child));
    }
  }
}

TEST(SpaceWalk, NearestLegalisesASchedulesOfAnotherShape) {
  Workload here = blockedConvolution(128, 128, 28, 3);
  Space space = buildSpace(here, testDevice());
  Schedule foreign = llvm::cantFail(
      Schedule::parse("cache_planes=1 cache_rows=56 chunks=4 order=1 planes=2 rows=6 unroll=8"));
  std::optional<Schedule> nearest = SpaceWalk(here, space).nearest(foreign);
  ASSERT_TRUE(nearest);
  EXPECT_EQ(nearest->text(), "cache_planes=1 cache_rows=28 order=1 planes=2 rows=6 unroll=8");
}

TEST(SpaceWalk, AllListsEachMemberOnce) {
  Workload workload = depthwiseConvolution(96, 112);
  Space space = buildSpace(workload, testDevice());
  std::vector<Schedule> all = SpaceWalk(workload, space).all();
  EXPECT_EQ(int64_t(all.size()), space.size());
  EXPECT_EQ(std::set<Schedule>(all.begin(), all.end()).size(), all.size());
}

TEST(ModelSearch, FindsTheCheapestOfALargeSpace) {
  AnalyticalModel model(testDevice());
  Workload workload = blockedConvolution(256, 256, 14, 3);
  Space space = buildSpace(workload, testDevice());
  std::vector<PredictedSchedule> top = topSchedules(workload, space, model, 8);
  ASSERT_EQ(top.size(), 8u);
  double least = top.front().predictedNs;
  std::vector<Schedule> all = SpaceWalk(workload, space).all();
  std::vector<CostQuery> queries;
  for (const Schedule &schedule : all)
    queries.push_back({&workload, &schedule});
  for (double time : model.predict(queries))
    EXPECT_GE(time, 0.99 * least);
  for (size_t i = 1; i < top.size(); ++i)
    EXPECT_LE(top[i - 1].predictedNs, top[i].predictedNs);
}

TEST(ModelSearch, EveryWorkloadHasAPick) {
  AnalyticalModel model(testDevice());
  for (int threads : {1, 2})
    for (const Workload &workload : testWorkloads(threads)) {
      Space space = buildSpace(workload, testDevice());
      std::vector<PredictedSchedule> top = topSchedules(workload, space, model, 1);
      ASSERT_EQ(top.size(), 1u);
      EXPECT_TRUE(space.contains(workload, top[0].schedule));
      EXPECT_GT(top[0].predictedNs, 0);
    }
}
