// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moves inside a space: random members, neighbours, children of two, nearest member.
#pragma once

#include "schedule/LoopNest.h"
#include "schedule/Space.h"

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace autotune {

/// The only source of chance in a search: same seed, same trace on every machine.
class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}
  /// 0 to count - 1.
  size_t below(size_t count) { return size_t(engine() % count); }
  /// True with probability `p`.
  bool chance(double p) { return double(engine() >> 11) * 0x1p-53 < p; }

private:
  std::mt19937_64 engine;
};

class SpaceWalk {
public:
  SpaceWalk(const Workload &workload, const Space &space) : workload(workload), space(space) {}

  const Space &knobs() const { return space; }
  bool contains(const Schedule &schedule) const { return space.contains(workload, schedule); }
  /// Two schedules with the same key are the same program. The schedule must be a member.
  std::string nestKey(const Schedule &schedule) const;

  /// The first value of each knob.
  Schedule first() const;
  /// nullopt: no member found in a bounded number of draws.
  std::optional<Schedule> random(Random &random) const;
  /// One or two knobs changed, mostly to a neighbouring value.
  std::optional<Schedule> mutate(const Schedule &parent, Random &random) const;
  /// Each knob from one of the parents.
  std::optional<Schedule> cross(const Schedule &left, const Schedule &right, Random &random) const;
  /// Every knob set to the legal value nearest to the one in `foreign` (the first where it has none); nullopt
  /// if the values together are not a member.
  std::optional<Schedule> nearest(const Schedule &foreign) const;
  /// Every member, in a fixed order. For small spaces.
  std::vector<Schedule> all() const;

private:
  std::optional<Schedule> member(Schedule schedule) const;

  const Workload &workload;
  const Space &space;
};

} // namespace autotune
