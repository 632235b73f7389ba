// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Descends the cost model's landscape knob by knob.
#include "tuner/ModelSearch.h"

#include "tuner/SpaceWalk.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <optional>
#include <string>

using namespace autotune;

static constexpr int64_t kPriceAllBelow = 1500;
static constexpr int kStarts = 4;
static constexpr int kPasses = 6;
static constexpr uint64_t kSeed = 1;
/// Knobs whose product is what counts: they are changed together as well.
static constexpr std::pair<const char *, const char *> kCoupled[] = {
    {"rows", "planes"}, {"rows", "cols"}, {"cache_rows", "cache_planes"}, {"parallel", "chunks"}};

namespace {

/// A schedule as the positions of its values in the space's lists: cheap to copy and to look up.
using Genome = std::string;

class ModelDescent {
public:
  ModelDescent(const Workload &workload, const Space &space, const CostModel &model)
      : workload(workload), space(space), walk(workload, space), model(model) {}

  void priceAll() {
    price(llvm::map_to_vector<0>(walk.all(), [&](const Schedule &s) { return genomeOf(s); }));
  }
  void descend();
  std::vector<PredictedSchedule> best(size_t count) const;

private:
  Genome genomeOf(const Schedule &schedule) const;
  Schedule scheduleOf(const Genome &genome) const;
  void price(llvm::ArrayRef<Genome> genomes);
  std::optional<double> priceOf(const Genome &genome) const { return priced.lookup(genome); }
  void addVariants(const Genome &center, size_t knob, std::optional<size_t> other,
                   std::vector<Genome> &all) const;
  std::vector<Genome> neighbours(const Genome &center) const;
  std::optional<size_t> find(llvm::StringRef name) const;
  void descendFrom(const Genome &start);

  const Workload &workload;
  const Space &space;
  SpaceWalk walk;
  const CostModel &model;
  llvm::StringMap<std::optional<double>> priced; // nullopt: not a member
};

} // namespace

Genome ModelDescent::genomeOf(const Schedule &schedule) const {
  Genome genome;
  for (const Knob &knob : space.knobs)
    genome += char(llvm::find(knob.values, schedule.knobs.at(knob.name)) - knob.values.begin());
  return genome;
}

Schedule ModelDescent::scheduleOf(const Genome &genome) const {
  Schedule schedule;
  for (auto [knob, position] : llvm::zip(space.knobs, genome))
    schedule.knobs[knob.name] = knob.values[size_t(position)];
  return schedule;
}

void ModelDescent::price(llvm::ArrayRef<Genome> genomes) {
  std::vector<Genome> unknown;
  std::vector<Schedule> schedules;
  for (const Genome &genome : genomes) {
    if (!priced.try_emplace(genome).second)
      continue;
    Schedule schedule = scheduleOf(genome);
    if (!walk.contains(schedule))
      continue;
    unknown.push_back(genome);
    schedules.push_back(std::move(schedule));
  }
  std::vector<CostQuery> queries;
  for (const Schedule &schedule : schedules)
    queries.push_back({&workload, &schedule});
  for (auto [genome, time] : llvm::zip(unknown, model.predict(queries)))
    priced[genome] = time;
}

std::optional<size_t> ModelDescent::find(llvm::StringRef name) const {
  auto found = llvm::find_if(space.knobs, [&](const Knob &knob) { return knob.name == name; });
  if (found == space.knobs.end())
    return std::nullopt;
  return size_t(found - space.knobs.begin());
}

void ModelDescent::addVariants(const Genome &center, size_t knob, std::optional<size_t> other,
                               std::vector<Genome> &all) const {
  for (size_t value = 0; value < space.knobs[knob].values.size(); ++value) {
    Genome genome = center;
    genome[knob] = char(value);
    if (other)
      addVariants(genome, *other, std::nullopt, all);
    else
      all.push_back(std::move(genome));
  }
}

std::vector<Genome> ModelDescent::neighbours(const Genome &center) const {
  std::vector<Genome> all;
  for (size_t knob = 0; knob < space.knobs.size(); ++knob)
    addVariants(center, knob, std::nullopt, all);
  for (auto [left, right] : kCoupled)
    if (std::optional<size_t> first = find(left), second = find(right); first && second)
      addVariants(center, *first, second, all);
  return all;
}

void ModelDescent::descendFrom(const Genome &start) {
  price({start});
  Genome center = start;
  for (int pass = 0; pass < kPasses; ++pass) {
    std::vector<Genome> around = neighbours(center);
    price(around);
    Genome best = center;
    for (const Genome &genome : around)
      if (std::optional<double> time = priceOf(genome); time && *time < *priceOf(best))
        best = genome;
    if (best == center)
      return;
    center = best;
  }
}

void ModelDescent::descend() {
  descendFrom(genomeOf(walk.first()));
  Random random(kSeed);
  for (int start = 1; start < kStarts; ++start)
    if (std::optional<Schedule> schedule = walk.random(random))
      descendFrom(genomeOf(*schedule));
}

std::vector<PredictedSchedule> ModelDescent::best(size_t count) const {
  std::vector<std::pair<double, Genome>> sorted;
  for (const auto &entry : priced)
    if (entry.second)
      sorted.emplace_back(*entry.second, entry.first().str());
  llvm::sort(sorted);
  std::vector<PredictedSchedule> distinct;
  llvm::StringSet<> seen;
  for (const auto &[time, genome] : sorted) {
    if (distinct.size() == count)
      break;
    Schedule schedule = scheduleOf(genome);
    if (seen.insert(walk.nestKey(schedule)).second)
      distinct.push_back({std::move(schedule), time});
  }
  return distinct;
}

std::vector<PredictedSchedule> autotune::topSchedules(const Workload &workload, const Space &space,
                                                      const CostModel &model, size_t count) {
  ModelDescent descent(workload, space, model);
  if (space.size() <= kPriceAllBelow)
    descent.priceAll();
  else
    descent.descend();
  return descent.best(std::max<size_t>(count, 1));
}
