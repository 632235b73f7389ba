// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moves inside a space.
#include "tuner/SpaceWalk.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace autotune;

static constexpr int kDraws = 64;
static constexpr double kNeighbourChance = 0.7;
static constexpr double kSecondKnobChance = 0.4;

std::string SpaceWalk::nestKey(const Schedule &schedule) const {
  LoopNest nest = llvm::cantFail(buildLoopNest(workload, schedule));
  std::string key = nest.parallel ? "p" : "s";
  for (const TileLoop &loop : nest.tiles)
    key += std::to_string(loop.dim) + ":" + std::to_string(loop.step) + " ";
  for (const ReductionLoop &loop : nest.reductions)
    key += "r" + std::to_string(loop.dim) + ":" + std::to_string(loop.unroll) + " ";
  return key;
}

std::optional<Schedule> SpaceWalk::member(Schedule schedule) const {
  if (!contains(schedule))
    return std::nullopt;
  return schedule;
}

Schedule SpaceWalk::first() const {
  Schedule schedule;
  for (const Knob &knob : space.knobs)
    schedule.knobs[knob.name] = knob.values.front();
  return schedule;
}

std::optional<Schedule> SpaceWalk::random(Random &random) const {
  for (int draw = 0; draw < kDraws; ++draw) {
    Schedule schedule;
    for (const Knob &knob : space.knobs)
      schedule.knobs[knob.name] = knob.values[random.below(knob.values.size())];
    if (contains(schedule))
      return schedule;
  }
  return std::nullopt;
}

static void changeKnob(const Knob &knob, int64_t &value, Random &random) {
  size_t count = knob.values.size();
  auto found = llvm::find(knob.values, value);
  if (found == knob.values.end() || !random.chance(kNeighbourChance)) {
    value = knob.values[random.below(count)];
    return;
  }
  size_t index = size_t(found - knob.values.begin());
  bool up = index == 0 || (index + 1 < count && random.chance(0.5));
  if (count > 1)
    value = knob.values[up ? index + 1 : index - 1];
}

std::optional<Schedule> SpaceWalk::mutate(const Schedule &parent, Random &random) const {
  if (space.knobs.empty())
    return std::nullopt;
  for (int draw = 0; draw < kDraws; ++draw) {
    Schedule child = parent;
    int changes = random.chance(kSecondKnobChance) ? 2 : 1;
    for (int i = 0; i < changes; ++i) {
      const Knob &knob = space.knobs[random.below(space.knobs.size())];
      changeKnob(knob, child.knobs[knob.name], random);
    }
    if (child != parent && contains(child))
      return child;
  }
  return std::nullopt;
}

std::optional<Schedule> SpaceWalk::cross(const Schedule &left, const Schedule &right, Random &random) const {
  for (int draw = 0; draw < kDraws; ++draw) {
    Schedule child = left;
    for (auto &[name, value] : child.knobs)
      if (random.chance(0.5))
        value = right.knobs.at(name);
    if (contains(child))
      return child;
  }
  return std::nullopt;
}

std::optional<Schedule> SpaceWalk::nearest(const Schedule &foreign) const {
  Schedule schedule = first();
  for (const Knob &knob : space.knobs) {
    auto found = foreign.knobs.find(knob.name);
    if (found == foreign.knobs.end())
      continue;
    auto distance = [&](int64_t value) { return std::abs(double(value) - double(found->second)); };
    schedule.knobs[knob.name] =
        *std::min_element(knob.values.begin(), knob.values.end(),
                          [&](int64_t a, int64_t b) { return distance(a) < distance(b); });
  }
  return member(schedule);
}

std::vector<Schedule> SpaceWalk::all() const {
  std::vector<Schedule> members;
  std::vector<size_t> position(space.knobs.size(), 0);
  for (;;) {
    Schedule schedule;
    for (auto [knob, index] : llvm::zip(space.knobs, position))
      schedule.knobs[knob.name] = knob.values[index];
    if (contains(schedule))
      members.push_back(std::move(schedule));
    size_t digit = 0;
    while (digit < position.size() && ++position[digit] == space.knobs[digit].values.size())
      position[digit++] = 0;
    if (digit == position.size())
      return members;
  }
}
