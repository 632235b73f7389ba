// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expected gain of a round, task by task.
#include "tuner/TaskScheduler.h"

#include <algorithm>
#include <cmath>

using namespace autotune;

// Below this a gain is noise.
static constexpr double kNoise = 0.005;

TaskScheduler::TaskScheduler(std::vector<Task> given, const TaskSchedulerOptions &options)
    : tasks(std::move(given)), states(tasks.size()), options(options) {
  for (size_t i = 0; i < tasks.size(); ++i)
    states[i].bestNs = tasks[i].timeNs;
}

double TaskScheduler::totalNs() const {
  double total = 0;
  for (size_t i = 0; i < tasks.size(); ++i)
    total += tasks[i].weight * states[i].bestNs;
  return total;
}

double TaskScheduler::expectedGain(size_t task) const {
  const State &state = states[task];
  if (state.rounds == 0)
    return tasks[task].weight * tasks[task].timeNs * options.firstGain;
  double distance = std::max(0.0, state.bestNs - tasks[task].boundNs) * options.boundShare;
  double hope = std::max(state.lastGainNs, distance) * std::pow(options.patience, state.dryRounds);
  return tasks[task].weight * hope;
}

bool TaskScheduler::isDry(size_t task) const {
  return states[task].rounds > 0 && expectedGain(task) < totalNs() * options.leastGainShare;
}

std::optional<size_t> TaskScheduler::next() const {
  std::optional<size_t> best;
  auto better = [&](size_t task) {
    bool isFirst = states[task].rounds == 0, bestIsFirst = states[*best].rounds == 0;
    return isFirst != bestIsFirst ? isFirst : expectedGain(task) > expectedGain(*best);
  };
  for (size_t task = 0; task < tasks.size(); ++task) {
    if (states[task].finished || isDry(task))
      continue;
    if (!best || better(task))
      best = task;
  }
  return best;
}

void TaskScheduler::report(size_t task, std::optional<double> bestNs) {
  State &state = states[task];
  // The first measured time replaces a prediction: the difference is no gain.
  double gain = state.rounds > 0 && bestNs ? std::max(0.0, state.bestNs - *bestNs) : 0;
  bool dry = !bestNs || (state.rounds > 0 && gain < kNoise * state.bestNs);
  state.dryRounds = dry ? state.dryRounds + 1 : 0;
  state.lastGainNs = dry ? state.lastGainNs : gain;
  if (bestNs)
    state.bestNs = *bestNs;
  ++state.rounds;
}
