// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decides which task the next round of trials goes to.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace autotune {

struct TaskSchedulerOptions {
  /// A round is not worth its trials if it is expected to cut less than this share of the model's time.
  double leastGainShare = 0.0005;
  /// Share of a task's time that a first round is expected to save.
  double firstGain = 0.15;
  /// What is left of the distance to the bound that one more round is expected to close.
  double boundShare = 0.1;
  /// A round without a gain halves the hope.
  double patience = 0.5;
};

/// Gradient scheduler (Zheng et al., Ansor, OSDI 2020, section 6): rounds go to the task whose next round
/// promises the largest cut of the sum of weight times time. Every task has its first round before any has
/// its second.
class TaskScheduler {
public:
  struct Task {
    double weight = 1;  // occurrences in the model
    double timeNs = 0;  // of one run, predicted or measured, untuned
    double boundNs = 0; // no schedule is faster than this
  };

  TaskScheduler(std::vector<Task> tasks, const TaskSchedulerOptions &options = {});

  /// The task of the next round; nullopt when no round is worth it any more.
  std::optional<size_t> next() const;
  /// One round of `task` ended with `bestNs` as its best time so far; nullopt: everything failed.
  void report(size_t task, std::optional<double> bestNs);
  /// The task gets no further round.
  void finish(size_t task) { states[task].finished = true; }

  /// True if another round of the task is not worth its trials.
  bool isDry(size_t task) const;
  bool isFinished(size_t task) const { return states[task].finished; }
  int rounds(size_t task) const { return states[task].rounds; }
  /// Nanoseconds of the model that another round of the task is expected to save.
  double expectedGain(size_t task) const;

private:
  struct State {
    int rounds = 0, dryRounds = 0;
    double bestNs = 0, lastGainNs = 0;
    bool finished = false;
  };
  double totalNs() const;

  std::vector<Task> tasks;
  std::vector<State> states;
  TaskSchedulerOptions options;
};

} // namespace autotune
