// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stop rule of a run: wall clock, trials, or the user.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

namespace autotune {

struct BudgetLimits {
  std::optional<std::chrono::milliseconds> time;
  std::optional<int64_t> trials;
};

/// Starts to run when it is made.
class Budget {
public:
  using Clock = std::chrono::steady_clock;

  /// `stop` (may be null) ends the run at once; `now` is the clock, for tests.
  explicit Budget(BudgetLimits limits, const std::atomic<bool> *stop = nullptr,
                  std::function<Clock::time_point()> now = Clock::now)
      : limits(limits), stop(stop), now(std::move(now)), start(this->now()) {}

  void addTrials(int64_t count) { used += count; }
  int64_t trials() const { return used; }
  std::chrono::milliseconds elapsed() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(now() - start);
  }

  bool isStopped() const { return stop && stop->load(std::memory_order_relaxed); }
  /// True if less than `reserve` is left of the time, or no trial.
  bool isUsedUp(std::chrono::milliseconds reserve = std::chrono::milliseconds(0)) const {
    return isStopped() || (limits.time && elapsed() + reserve >= *limits.time) ||
           (limits.trials && used >= *limits.trials);
  }
  /// `wanted`, or the trials that are left if they are fewer.
  int64_t clampTrials(int64_t wanted) const {
    return limits.trials ? std::min(wanted, std::max<int64_t>(0, *limits.trials - used)) : wanted;
  }
  std::optional<std::chrono::milliseconds> timeLeft() const {
    if (!limits.time)
      return std::nullopt;
    return std::max(std::chrono::milliseconds(0), *limits.time - elapsed());
  }

private:
  BudgetLimits limits;
  const std::atomic<bool> *stop;
  std::function<Clock::time_point()> now;
  Clock::time_point start;
  int64_t used = 0;
};

} // namespace autotune
