// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Knob values to loops: where each knob's loop stands in the nest.
#include "schedule/Errors.h"
#include "schedule/LoopNest.h"
#include "schedule/LoopRoles.h"
#include "schedule/Space.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace autotune;

/// Larger than any extent of interest, small enough that the product of two knobs does not overflow.
static constexpr int64_t kMaxKnobValue = int64_t(1) << 30;

namespace {

/// Adds loops, outermost first, and leaves out those that would not cut anything.
class NestBuilder {
public:
  NestBuilder(const Workload &workload, const Schedule &schedule)
      : workload(workload), schedule(schedule), roles(loopRoles(workload)) {
    for (const LoopDim &dim : workload.dims)
      left.push_back(dim.extent);
  }

  llvm::Expected<LoopNest> build();

private:
  int64_t knob(const char *name, int64_t absent = 1) const {
    auto found = schedule.knobs.find(name);
    return found == schedule.knobs.end() ? absent : found->second;
  }
  llvm::Error checkKnobs() const;
  /// Step of the innermost loop over `dim`: its share of the register tile.
  int64_t innerStep(int dim) const;
  void add(int dim, int64_t step);
  void addEach(const std::vector<int> &dims) {
    for (int dim : dims)
      add(dim, 1);
  }
  void addCache(int dim, const char *name);
  void addParallel();
  void addContraction();
  void addWinograd();
  void addInOrder();
  void addReductions();
  void addRows();
  void addAttention();
  void addRecurrence();

  const Workload &workload;
  const Schedule &schedule;
  LoopRoles roles;
  std::vector<int64_t> left; // extent of each dim inside the loops so far
  LoopNest nest;
};

} // namespace

llvm::Error NestBuilder::checkKnobs() const {
  std::vector<std::string> names = knobNames(workload, roles);
  for (const std::string &name : names)
    if (!schedule.knobs.count(name))
      return makeError("schedule: found no knob '{0}', expected it for this {1}", name, workload.kind);
  for (const auto &[name, value] : schedule.knobs) {
    if (!llvm::is_contained(names, name))
      return makeError("schedule: found knob '{0}', which this {1} does not have", name, workload.kind);
    int64_t least = name == "order" || name == "parallel" ? 0 : 1;
    if (value < least || value > kMaxKnobValue)
      return makeError("schedule: found {0}={1}, expected {2} to {3}", name, value, least, kMaxKnobValue);
  }
  if (knob("order", 0) > 1)
    return makeError("schedule: found order={0}, expected 0 or 1", knob("order", 0));
  int64_t parallel = knob("parallel", 0);
  if (parallel > 3 || (parallel > 0 && roles.parallelDims()[parallel - 1] < 0))
    return makeError("schedule: found parallel={0}, for which this {1} has no loop", parallel, workload.kind);
  const std::pair<const char *, int> extents[] = {
      {"rows", roles.row}, {"planes", roles.plane}, {"cols", roles.vector}};
  for (auto [name, dim] : extents)
    if (dim >= 0 && knob(name) > workload.dims[dim].extent)
      return makeError("schedule: found {0}={1}, expected at most {2}", name, knob(name),
                       workload.dims[dim].extent);
  return llvm::Error::success();
}

int64_t NestBuilder::innerStep(int dim) const {
  if (dim == roles.row)
    return knob("rows");
  if (dim == roles.plane)
    return knob("planes");
  if (dim == roles.vector)
    return roles.tiledVector ? knob("cols") : workload.dims[dim].extent;
  return 1;
}

void NestBuilder::add(int dim, int64_t step) {
  if (dim < 0 || step >= left[dim])
    return;
  nest.tiles.push_back({dim, step});
  left[dim] = step;
}

void NestBuilder::addCache(int dim, const char *name) {
  if (dim >= 0)
    add(dim, innerStep(dim) * knob(name));
}

/// Chunks are whole register tiles, so that no chunk but the last has a rest.
void NestBuilder::addParallel() {
  int64_t parallel = knob("parallel", 0);
  if (parallel == 0)
    return;
  int dim = roles.parallelDims()[parallel - 1];
  int64_t share = llvm::divideCeil(workload.dims[dim].extent, knob("chunks"));
  add(dim, llvm::alignTo(share, innerStep(dim)));
  nest.parallel = !nest.tiles.empty();
}

void NestBuilder::addContraction() {
  bool rowsOutside = knob("order", 0) == 0;
  auto outer = [](const std::vector<int> &dims, int except) {
    std::vector<int> rest;
    llvm::copy_if(dims, std::back_inserter(rest), [&](int dim) { return dim != except; });
    return rest;
  };
  auto blockRows = [&] {
    addEach(outer(roles.outerRows, roles.cacheRow()));
    addCache(roles.cacheRow(), "cache_rows");
  };
  auto blockPlanes = [&] {
    addEach(roles.outerPlanes);
    addCache(roles.cachePlane(), "cache_planes");
  };
  auto tileRows = [&] {
    addEach(roles.outerRows);
    add(roles.row, knob("rows"));
  };
  auto tilePlanes = [&] {
    add(roles.plane, knob("planes"));
    if (roles.tiledVector)
      add(roles.vector, knob("cols"));
  };
  addEach(roles.batch);
  if (rowsOutside) {
    blockRows();
    blockPlanes();
    tileRows();
    tilePlanes();
  } else {
    blockPlanes();
    blockRows();
    tilePlanes();
    tileRows();
  }
}

/// Blocks of tiles, whose transforms stay in a cache; blocks of output channels, whose transforms back
/// follow; points.
void NestBuilder::addWinograd() {
  addCache(roles.row, "cache_rows");
  add(roles.plane, knob("planes"));
  addEach(roles.batch);
  add(roles.row, knob("rows"));
}

/// Without reuse between the loops to win, they stand as in the workload: along the output's memory.
void NestBuilder::addInOrder() {
  for (size_t dim = 0; dim < workload.dims.size(); ++dim)
    if (!workload.dims[dim].reduction)
      add(int(dim), innerStep(int(dim)));
}

void NestBuilder::addReductions() {
  if (roles.form == NestForm::RowReduction)
    return;
  for (int dim : roles.reductions)
    nest.reductions.push_back({dim, dim == roles.reductions.back() ? knob("unroll") : 1});
}

void NestBuilder::addRows() {
  addEach(roles.batch);
  nest.reductions.push_back({roles.reductions.back(), knob("cols")});
}

void NestBuilder::addAttention() {
  addEach(roles.batch);
  add(roles.row, knob("rows"));
  add(roles.plane, knob("planes"));
  nest.reductions.push_back(
      {roles.reductions[0], std::min(knob("cols"), workload.dims[roles.reductions[0]].extent)});
  nest.reductions.push_back({roles.reductions[1], 1});
}

void NestBuilder::addRecurrence() {
  addEach(roles.batch);
  add(roles.vector, knob("cols"));
  add(roles.row, knob("rows"));
  for (int dim : roles.reductions)
    nest.reductions.push_back({dim, 1});
  // Without several rows nobody waits for the weights that one of them has read.
  int64_t &depth = nest.reductions[1].unroll;
  depth = workload.dims[nest.reductions[1].dim].extent;
  if (roles.row >= 0)
    depth = std::min(depth, knob("depth"));
}

llvm::Expected<LoopNest> NestBuilder::build() {
  if (llvm::Error error = checkKnobs())
    return std::move(error);
  addParallel();
  switch (roles.form) {
  case NestForm::Contraction:
    addContraction();
    addReductions();
    break;
  case NestForm::Winograd:
    addWinograd();
    addReductions();
    break;
  case NestForm::Rows:
    addRows();
    break;
  case NestForm::Attention:
    addAttention();
    break;
  case NestForm::Recurrence:
    addRecurrence();
    break;
  case NestForm::Window:
  case NestForm::RowReduction:
  case NestForm::Pointwise:
    addInOrder();
    addReductions();
    break;
  }
  if (llvm::Error error = nest.verify(workload))
    return std::move(error);
  return nest;
}

llvm::Expected<LoopNest> autotune::buildLoopNest(const Workload &workload, const Schedule &schedule) {
  return NestBuilder(workload, schedule).build();
}
