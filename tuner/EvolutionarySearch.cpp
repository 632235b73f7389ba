// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Breeds candidates from the best measured ones.
#include "tuner/EvolutionarySearch.h"

#include "tuner/ModelSearch.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

using namespace autotune;

static constexpr int kRandomDraws = 32;

/// What the inner loops look like: neighbours in the other knobs differ little, and a model that is wrong
/// about one of them is wrong about all.
static std::string innerShape(const Schedule &schedule) {
  std::string shape;
  for (const char *name : {"rows", "planes", "cols", "unroll"})
    if (auto found = schedule.knobs.find(name); found != schedule.knobs.end())
      shape += std::to_string(found->second) + " ";
  return shape;
}

/// The best of each inner shape, then the second of each, …; in either, cheapest first.
static std::vector<Schedule> spread(std::vector<PredictedSchedule> candidates) {
  std::map<std::string, int> seen;
  std::vector<std::pair<int, size_t>> order;
  for (auto [index, candidate] : llvm::enumerate(candidates))
    order.emplace_back(seen[innerShape(candidate.schedule)]++, index);
  llvm::sort(order);
  std::vector<Schedule> schedules;
  for (auto [rank, index] : order)
    schedules.push_back(std::move(candidates[index].schedule));
  return schedules;
}

EvolutionarySearch::EvolutionarySearch(const Workload &workload, const Space &space, const CostModel &model,
                                       const EvolutionOptions &options, llvm::ArrayRef<Schedule> given)
    : workload(workload), model(model), options(options), walk(workload, space), random(options.seed) {
  for (const Schedule &seed : llvm::reverse(given))
    if (walk.contains(seed))
      seeds.push_back(seed);
  predicted = spread(topSchedules(workload, space, model, options.predicted));
  std::reverse(predicted.begin(), predicted.end());
}

/// True the first time that this loop nest comes up.
bool EvolutionarySearch::take(const Schedule &schedule) {
  return known.insert(walk.nestKey(schedule)).second;
}

void EvolutionarySearch::takeFrom(std::vector<Schedule> &queue, size_t count, std::vector<Schedule> &batch) {
  size_t wanted = batch.size() + count;
  while (batch.size() < wanted && !queue.empty()) {
    if (take(queue.back()))
      batch.push_back(queue.back());
    queue.pop_back();
  }
}

void EvolutionarySearch::takeRandom(size_t count, std::vector<Schedule> &batch) {
  for (size_t i = 0; i < count; ++i)
    for (int draw = 0; draw < kRandomDraws; ++draw)
      if (std::optional<Schedule> schedule = walk.random(random); schedule && take(*schedule)) {
        batch.push_back(std::move(*schedule));
        break;
      }
}

/// Children of the fastest, and what the model likes.
std::vector<Schedule> EvolutionarySearch::breed() {
  size_t parents = std::min(options.parents, measured.size());
  std::set<Schedule> pool(predicted.begin(), predicted.end());
  for (size_t i = 0; i < options.children; ++i) {
    const Schedule &left = measured[random.below(parents)].schedule;
    const Schedule &right = measured[random.below(parents)].schedule;
    bool cross = random.chance(options.crossShare);
    std::optional<Schedule> child = cross ? walk.cross(left, right, random) : walk.mutate(left, random);
    if (child)
      pool.insert(std::move(*child));
  }
  std::vector<Schedule> fresh;
  for (const Schedule &schedule : pool)
    if (!known.contains(walk.nestKey(schedule)))
      fresh.push_back(schedule);
  return fresh;
}

/// How many knobs differ.
static size_t distance(const Schedule &a, const Schedule &b) {
  size_t count = 0;
  for (const auto &[name, value] : a.knobs)
    count += b.knobs.at(name) != value;
  return count;
}

/// The model's word for a candidate is corrected by how wrong it was about the candidate's nearest measured
/// relatives.
void EvolutionarySearch::takeRanked(size_t count, std::vector<Schedule> &batch) {
  if (measured.empty() || count == 0)
    return;
  std::vector<Schedule> candidates = breed();
  std::vector<CostQuery> queries;
  for (const Schedule &candidate : candidates)
    queries.push_back({&workload, &candidate});
  std::vector<double> predictions = model.predict(queries);
  std::vector<std::pair<double, size_t>> ranked;
  for (size_t i = 0; i < candidates.size(); ++i) {
    double weights = 0, logRatio = 0;
    for (const Measured &relative : measured) {
      double weight = std::exp(-2.0 * double(distance(candidates[i], relative.schedule)));
      weights += weight;
      logRatio += weight * std::log(relative.medianNs / relative.predictedNs);
    }
    ranked.emplace_back(std::log(predictions[i]) + logRatio / weights, i);
  }
  llvm::sort(ranked);
  size_t wanted = batch.size() + count;
  for (const auto &[score, index] : ranked) {
    if (batch.size() >= wanted)
      return;
    if (take(candidates[index]))
      batch.push_back(candidates[index]);
  }
}

/// Seeds; then, as long as nothing is measured, the model's list; then its word and the measurements
/// together. A few are drawn blindly, and whatever one source cannot give comes from the next.
std::vector<Schedule> EvolutionarySearch::propose(size_t count) {
  std::vector<Schedule> batch;
  takeFrom(seeds, count, batch);
  size_t blind = size_t(std::lround(double(count - batch.size()) * options.randomShare));
  takeRanked(count - blind - batch.size(), batch);
  takeFrom(predicted, count - blind - batch.size(), batch);
  takeRandom(count - batch.size(), batch);
  return batch;
}

void EvolutionarySearch::observe(const Schedule &schedule, const Outcome &outcome) {
  if (!walk.contains(schedule))
    return;
  take(schedule);
  const auto *measurement = std::get_if<Measurement>(&outcome);
  if (!measurement)
    return;
  CostQuery query = {&workload, &schedule};
  Measured entry = {schedule, measurement->medianNs, model.predict({&query, 1}).front()};
  auto slower =
      llvm::find_if(measured, [&](const Measured &other) { return other.medianNs > entry.medianNs; });
  measured.insert(slower, entry);
  if (!fastest || measurement->medianNs < fastest->measurement.medianNs)
    fastest = Best{schedule, *measurement};
}
