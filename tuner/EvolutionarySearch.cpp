// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Breeds candidates from the best measured ones.
#include "tuner/EvolutionarySearch.h"

#include "tuner/ModelSearch.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace autotune;

static constexpr int kRandomDraws = 32;

EvolutionarySearch::EvolutionarySearch(const Workload &workload, const Space &space, const CostModel &model,
                                       const EvolutionOptions &options, llvm::ArrayRef<Schedule> given)
    : workload(workload), model(model), options(options), walk(workload, space), random(options.seed) {
  for (const Schedule &seed : llvm::reverse(given))
    if (walk.contains(seed))
      seeds.push_back(seed);
  for (PredictedSchedule &candidate : topSchedules(workload, space, model, options.predicted))
    predicted.push_back(std::move(candidate.schedule));
  std::reverse(predicted.begin(), predicted.end());
}

/// True the first time that this loop nest comes up.
bool EvolutionarySearch::take(const Schedule &schedule) { return known.insert(walk.nestKey(schedule)).second; }

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

std::vector<Schedule> EvolutionarySearch::breed() {
  size_t parents = std::min(options.parents, measured.size());
  std::set<Schedule> children;
  for (size_t i = 0; i < options.children; ++i) {
    const Schedule &left = measured[random.below(parents)].schedule;
    const Schedule &right = measured[random.below(parents)].schedule;
    bool cross = random.chance(options.crossShare);
    std::optional<Schedule> child = cross ? walk.cross(left, right, random) : walk.mutate(left, random);
    if (child && !known.contains(walk.nestKey(*child)))
      children.insert(std::move(*child));
  }
  return {children.begin(), children.end()};
}

/// How many knobs differ.
static size_t distance(const Schedule &a, const Schedule &b) {
  size_t count = 0;
  for (const auto &[name, value] : a.knobs)
    count += b.knobs.at(name) != value;
  return count;
}

/// The model's word for a child is corrected by how wrong it was about the child's nearest measured relatives.
void EvolutionarySearch::takeChildren(size_t count, std::vector<Schedule> &batch) {
  if (measured.empty() || count == 0)
    return;
  std::vector<Schedule> children = breed();
  std::vector<CostQuery> queries;
  for (const Schedule &child : children)
    queries.push_back({&workload, &child});
  std::vector<double> predictions = model.predict(queries);
  std::vector<std::pair<double, size_t>> ranked;
  for (size_t i = 0; i < children.size(); ++i) {
    double weights = 0, logRatio = 0;
    for (const Measured &relative : measured) {
      double weight = std::exp(-2.0 * double(distance(children[i], relative.schedule)));
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
    if (take(children[index]))
      batch.push_back(children[index]);
  }
}

/// Seeds, then half from the model and half from the measured ones' children, a few at random; whatever one source
/// cannot give comes from the next.
std::vector<Schedule> EvolutionarySearch::propose(size_t count) {
  std::vector<Schedule> batch;
  takeFrom(seeds, count, batch);
  size_t blind = size_t(std::lround(double(count - batch.size()) * options.randomShare));
  size_t guided = count - batch.size() - blind;
  takeChildren(guided / 2, batch);
  takeFrom(predicted, count - blind - batch.size(), batch);
  takeChildren(count - blind - batch.size(), batch);
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
  auto slower = llvm::find_if(measured, [&](const Measured &other) { return other.medianNs > entry.medianNs; });
  measured.insert(slower, entry);
  if (!fastest || measurement->medianNs < fastest->measurement.medianNs)
    fastest = Best{schedule, *measurement};
}
