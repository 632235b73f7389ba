// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// On a known landscape: finds the optimum, beats chance, never repeats itself.
#include "tuner/EvolutionarySearch.h"
#include "test/unit/tuner/FakeMeasurer.h"

#include "gtest/gtest.h"

using namespace autotune;

namespace {

struct Landscape {
  explicit Landscape(Workload given) : workload(std::move(given)), space(buildSpace(workload, testDevice())) {
    optimumNs = 1e300;
    for (const Schedule &schedule : SpaceWalk(workload, space).all())
      optimumNs = std::min(optimumNs, fakeNs(workload, schedule));
  }
  EvolutionarySearch search(uint64_t seed) const {
    EvolutionOptions options;
    options.seed = seed;
    return EvolutionarySearch(workload, space, model, options);
  }
  /// Best time after `trials` trials in batches of eight.
  double run(EvolutionarySearch &&search, int trials) const {
    for (int done = 0; done < trials; done += 8)
      for (const Schedule &schedule : search.propose(8))
        search.observe(schedule, Measurement{fakeNs(workload, schedule), 0, 1});
    return search.best()->measurement.medianNs;
  }
  double runRandom(uint64_t seed, int trials) const {
    Random random(seed);
    double best = 1e300;
    for (int done = 0; done < trials; ++done)
      best = std::min(best, fakeNs(workload, *SpaceWalk(workload, space).random(random)));
    return best;
  }

  Workload workload;
  Space space;
  AnalyticalModel model{testDevice()};
  double optimumNs;
};

} // namespace

TEST(EvolutionarySearch, IsWithinTwoPercentOfTheOptimumInSixtyFourTrials) {
  for (const Workload &workload : {blockedConvolution(64, 64, 56, 3), blockedConvolution(256, 256, 14, 3),
                                   packedMatmul(128, 768, 768)}) {
    Landscape landscape(workload);
    int good = 0;
    for (uint64_t seed = 1; seed <= 5; ++seed)
      good += landscape.run(landscape.search(seed), 64) <= 1.02 * landscape.optimumNs;
    EXPECT_EQ(good, 5) << workload.text();
  }
}

TEST(EvolutionarySearch, BeatsChanceClearly) {
  Landscape landscape(blockedConvolution(128, 128, 28, 3));
  double evolved = 0, random = 0;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    evolved += landscape.run(landscape.search(seed), 40) / landscape.optimumNs - 1;
    random += landscape.runRandom(seed, 40) / landscape.optimumNs - 1;
  }
  EXPECT_LT(evolved, 0.5 * random) << evolved << " against " << random;
}

TEST(EvolutionarySearch, SameSeedGivesTheSameTrace) {
  Landscape landscape(packedMatmul(128, 768, 768));
  auto trace = [&](uint64_t seed) {
    EvolutionarySearch search = landscape.search(seed);
    std::vector<Schedule> all;
    for (int batch = 0; batch < 5; ++batch)
      for (const Schedule &schedule : search.propose(8)) {
        all.push_back(schedule);
        search.observe(schedule, Measurement{fakeNs(landscape.workload, schedule), 0, 1});
      }
    return all;
  };
  EXPECT_EQ(trace(7), trace(7));
  EXPECT_NE(trace(7), trace(8));
}

TEST(EvolutionarySearch, NeverProposesANestTwiceAndEndsWithTheSpace) {
  Workload workload = depthwiseConvolution(96, 112);
  Landscape landscape(workload);
  SpaceWalk walk(workload, landscape.space);
  EvolutionarySearch search = landscape.search(1);
  std::set<std::string> seen;
  for (;;) {
    std::vector<Schedule> batch = search.propose(8);
    if (batch.empty())
      break;
    for (const Schedule &schedule : batch) {
      EXPECT_TRUE(seen.insert(walk.nestKey(schedule)).second);
      search.observe(schedule, Failure{"compile", "no"});
    }
  }
  EXPECT_EQ(int64_t(seen.size()), landscape.space.size());
  EXPECT_FALSE(search.best());
}

TEST(EvolutionarySearch, SeedsComeFirstAndWhatIsKnownIsNotProposed) {
  Workload workload = packedMatmul(128, 768, 768);
  Landscape landscape(workload);
  SpaceWalk walk(workload, landscape.space);
  Schedule seed = walk.first(), outside = seed;
  outside.knobs["rows"] = 77;
  EvolutionarySearch search(workload, landscape.space, landscape.model, {}, {outside, seed});
  EXPECT_EQ(search.propose(1).front(), seed);
  Schedule next = EvolutionarySearch(workload, landscape.space, landscape.model, {}).propose(1).front();
  search.observe(next, Measurement{5, 0, 1});
  EXPECT_EQ(search.best()->schedule, next);
  EXPECT_NE(search.propose(1).front(), next);
}
