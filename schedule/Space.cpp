// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The knobs of a workload and their legal values on a device.
#include "schedule/Space.h"

#include "schedule/LoopNest.h"
#include "schedule/LoopRoles.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace autotune;

static constexpr int64_t kMaxUnroll = 8;
static constexpr int64_t kMaxPlanes = 4;
// Several rows reduced in one tile: they overlap their latencies, and more than this only makes the code
// longer.
static constexpr int64_t kMaxReducedElements = 1024;
static constexpr int64_t kMaxPlanesOfOneRow = 8;
// Of attention: rows come in vectors of so many lanes whatever the device (see emitAttention), so many values
// are side by side at most, and longer rows of scores always come in blocks.
static constexpr int64_t kLanesOfSquare = 16;
static constexpr int64_t kMaxValuePlanes = 14;
static constexpr int64_t kMostColumns = 1024;

static std::vector<int64_t> unrollValues(const Workload &workload, const LoopRoles &roles) {
  std::vector<int64_t> values = {1};
  if (roles.form == NestForm::RowReduction || roles.form == NestForm::Rows ||
      roles.form == NestForm::Attention || roles.form == NestForm::Recurrence || roles.reductions.empty())
    return values;
  int64_t extent = workload.dims[roles.reductions.back()].extent;
  for (int64_t factor = 2; factor <= kMaxUnroll; ++factor)
    if (extent % factor == 0 && (llvm::isPowerOf2_64(factor) || factor == extent))
      values.push_back(factor);
  return values;
}

std::vector<std::string> autotune::knobNames(const Workload &workload, const LoopRoles &roles) {
  std::vector<std::string> names;
  bool contraction = roles.form == NestForm::Contraction;
  bool blocks = contraction && roles.cacheRow() >= 0 && roles.cachePlane() >= 0;
  bool shared = workload.threads > 1 && roles.hasParallelDim();
  if (blocks)
    names.push_back("cache_planes");
  if (blocks || roles.form == NestForm::Winograd)
    names.push_back("cache_rows");
  if (shared)
    names.push_back("chunks");
  if (roles.tiledVector || roles.form == NestForm::Rows || roles.form == NestForm::Attention)
    names.push_back("cols");
  if (roles.form == NestForm::Recurrence && roles.row >= 0)
    names.push_back("depth");
  if (blocks)
    names.push_back("order");
  if (shared)
    names.push_back("parallel");
  if (roles.plane >= 0)
    names.push_back("planes");
  if (roles.row >= 0)
    names.push_back("rows");
  if (unrollValues(workload, roles).size() > 1)
    names.push_back("unroll");
  return names;
}

int64_t autotune::registersNeeded(const Workload &workload, const LoopRoles &roles,
                                  const std::vector<int64_t> &extents, int lanes) {
  auto extent = [&](int dim) { return dim < 0 ? 1 : extents[dim]; };
  int64_t vectors = int64_t(llvm::divideCeil(extent(roles.vector), lanes)), rows = extent(roles.row);
  switch (roles.form) {
  case NestForm::Winograd:
  case NestForm::Contraction: {
    int64_t loaded = extent(roles.plane) * vectors;
    // One row uses each vector once: straight from memory.
    return rows * loaded + (rows > 1 ? loaded : 1) + 1;
  }
  case NestForm::Window:
    return rows * vectors + (workload.opClass == OpClass::Depthwise ? vectors : 0) + 1;
  case NestForm::Pointwise:
    return rows * vectors;
  case NestForm::RowReduction:
    return rows;
  case NestForm::Rows:
    return 1;
  case NestForm::Attention: {
    // Lanes are rows here; a key or value is read from memory for each of them.
    int64_t loaded = int64_t(llvm::divideCeil(rows, lanes));
    return loaded * extent(roles.plane) + loaded + 1;
  }
  case NestForm::Recurrence:
    // Weights come one after the other, the state of each row is in all lanes of a vector.
    return rows * vectors * workload.dims.back().extent + rows + 1;
  }
  llvm_unreachable("every form has a register tile");
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

namespace {

/// Values of each knob for one workload.
class ValueLists {
public:
  ValueLists(const Workload &workload, const Space &space)
      : workload(workload), roles(loopRoles(workload)), registers(space.vectorRegisters), lanes(space.lanes) {
  }

  std::vector<int64_t> of(llvm::StringRef knob) const;

private:
  int64_t extent(int dim) const { return dim < 0 ? 1 : workload.dims[dim].extent; }
  std::vector<int64_t> rows() const;
  std::vector<int64_t> planes() const;
  std::vector<int64_t> columns() const;
  std::vector<int64_t> blocks(int dim) const;
  std::vector<int64_t> parallel() const;
  std::vector<int64_t> queryRows() const;
  std::vector<int64_t> valuePlanes() const;
  std::vector<int64_t> columnBlocks() const;
  std::vector<int64_t> depths() const;
  bool fits(int64_t rowCount, int64_t planeCount, int64_t columnCount) const;

  const Workload &workload;
  LoopRoles roles;
  int registers, lanes;
};

} // namespace

bool ValueLists::fits(int64_t rowCount, int64_t planeCount, int64_t columnCount) const {
  std::vector<int64_t> tile;
  for (const LoopDim &dim : workload.dims)
    if (!dim.reduction)
      tile.push_back(1);
  auto set = [&](int dim, int64_t value) {
    if (dim >= 0)
      tile[dim] = value;
  };
  set(roles.row, rowCount);
  set(roles.plane, planeCount);
  set(roles.vector, columnCount);
  if (roles.form == NestForm::RowReduction)
    return rowCount * reductionExtent(workload) <= kMaxReducedElements && rowCount <= kMaxUnroll;
  return registersNeeded(workload, roles, tile, lanes) <= registers;
}

/// Steps that cut the extent most evenly: of all steps with the same number of tiles the smallest, because a
/// tile's rest costs nearly as much as a tile.
std::vector<int64_t> ValueLists::rows() const {
  std::vector<int64_t> values = {1};
  int64_t narrow = roles.tiledVector ? columns().front() : extent(roles.vector);
  for (int64_t step = 2; step <= extent(roles.row) && fits(step, 1, narrow); ++step) {
    int64_t tiles = int64_t(llvm::divideCeil(extent(roles.row), step));
    bool even = int64_t(llvm::divideCeil(extent(roles.row), tiles)) == step;
    // On long loops the rest hardly counts and neighbouring steps do the same.
    if (even && (step <= 8 || step % 2 == 0 || step == extent(roles.row)))
      values.push_back(step);
  }
  return values;
}

std::vector<int64_t> ValueLists::planes() const {
  std::vector<int64_t> values = {1};
  int64_t most = roles.row >= 0 ? kMaxPlanes : kMaxPlanesOfOneRow;
  int64_t narrow = roles.tiledVector ? columns().front() : extent(roles.vector);
  for (int64_t step = 2; step <= std::min(most, extent(roles.plane)) && fits(1, step, narrow); ++step)
    values.push_back(step);
  return values;
}

/// A power of two of whole vectors, or less than one: LLVM takes apart what lies between. Rests become
/// narrower tiles.
std::vector<int64_t> ValueLists::columns() const {
  int64_t length = extent(roles.vector), most = 4;
  if (roles.form == NestForm::Pointwise || (roles.form == NestForm::Contraction && roles.row < 0))
    most = 8;
  std::vector<int64_t> values;
  for (int64_t count = 1; count <= most; count *= 2)
    if (count * lanes <= length && (values.empty() || fits(1, 1, count * lanes)))
      values.push_back(count * lanes);
  if (values.empty())
    values.push_back(length);
  return values;
}

std::vector<int64_t> ValueLists::blocks(int dim) const {
  std::vector<int64_t> values;
  int64_t length = extent(dim);
  for (int64_t size = 1; size < length && size <= 64; size *= 2) {
    int64_t even = int64_t(llvm::divideCeil(length, llvm::divideCeil(length, size)));
    if (values.empty() || even > values.back())
      values.push_back(even);
  }
  if (values.empty() || values.back() < length)
    values.push_back(length);
  return values;
}

std::vector<int64_t> ValueLists::parallel() const {
  std::vector<int64_t> values = {0};
  for (auto [index, dim] : llvm::enumerate(roles.parallelDims()))
    if (dim >= 0)
      values.push_back(int64_t(index) + 1);
  return values;
}

/// Rows of attention are lanes: whole vectors.
std::vector<int64_t> ValueLists::queryRows() const {
  std::vector<int64_t> values;
  for (int64_t vectors : {1, 2, 3, 4})
    if (values.empty() || (vectors - 1) * kLanesOfSquare < extent(roles.row))
      values.push_back(std::min(vectors * kLanesOfSquare, extent(roles.row)));
  return values;
}

/// Elements of values side by side: the most even cuts that fit the registers.
std::vector<int64_t> ValueLists::valuePlanes() const {
  std::vector<int64_t> values = {std::min<int64_t>(4, extent(roles.plane))};
  for (int64_t step = 5; step <= std::min<int64_t>(kMaxValuePlanes, extent(roles.plane)); ++step)
    values.push_back(step);
  return values;
}

/// Columns between two updates of the running maximum: all of them while the scores stay in the cache.
std::vector<int64_t> ValueLists::columnBlocks() const {
  int64_t columns = workload.dims[roles.reductions[0]].extent;
  std::vector<int64_t> values;
  for (int64_t block : {64, 128, 256, 512})
    if (block < columns)
      values.push_back(block);
  if (columns <= kMostColumns)
    values.push_back(columns);
  return values;
}

/// Numbers of a state: all of them, or as many as have their weights in L1.
std::vector<int64_t> ValueLists::depths() const {
  int64_t all = workload.dims[roles.reductions[1]].extent;
  std::vector<int64_t> values;
  for (int64_t block : {32, 64, 128, 256})
    if (block < all)
      values.push_back(block);
  values.push_back(all);
  return values;
}

std::vector<int64_t> ValueLists::of(llvm::StringRef knob) const {
  if (roles.form == NestForm::Attention) {
    if (knob == "rows")
      return queryRows();
    if (knob == "planes")
      return valuePlanes();
    if (knob == "cols")
      return columnBlocks();
  }
  if (roles.form == NestForm::Rows && knob == "cols")
    return {16, 32, 64};
  if (knob == "depth")
    return depths();
  if (knob == "rows")
    return rows();
  if (knob == "planes")
    return planes();
  if (knob == "cols")
    return columns();
  if (knob == "cache_rows")
    return blocks(roles.cacheRow());
  if (knob == "cache_planes")
    return blocks(roles.cachePlane());
  if (knob == "order")
    return {0, 1};
  if (knob == "unroll")
    return unrollValues(workload, roles);
  if (knob == "parallel")
    return parallel();
  int64_t threads = workload.threads;
  return {threads, 2 * threads, 4 * threads, 8 * threads};
}

//===----------------------------------------------------------------------===//
// Space
//===----------------------------------------------------------------------===//

int64_t Space::size() const {
  constexpr int64_t kMost = int64_t(1) << 62;
  int64_t product = 1;
  for (const Knob &knob : knobs) {
    int64_t count = int64_t(knob.values.size());
    if (product > kMost / count)
      return kMost;
    product *= count;
  }
  return product;
}

bool Space::contains(const Workload &workload, const Schedule &schedule) const {
  if (schedule.knobs.size() != knobs.size())
    return false;
  for (const Knob &knob : knobs) {
    auto found = schedule.knobs.find(knob.name);
    if (found == schedule.knobs.end() || !llvm::is_contained(knob.values, found->second))
      return false;
  }
  llvm::Expected<LoopNest> nest = buildLoopNest(workload, schedule);
  if (!nest) {
    llvm::consumeError(nest.takeError());
    return false;
  }
  std::vector<int64_t> tile = nest->registerTile(workload);
  if (registersNeeded(workload, loopRoles(workload), tile, lanes) <= vectorRegisters)
    return true;
  Schedule smallest;
  for (const Knob &knob : knobs)
    smallest.knobs[knob.name] = knob.values.front();
  return tile == llvm::cantFail(buildLoopNest(workload, smallest)).registerTile(workload);
}

Space autotune::buildSpace(const Workload &workload, const Device &device) {
  Space space;
  space.vectorRegisters = device.vectorRegisters();
  space.lanes = std::max<int>(1, device.vectorBytes() / int(elementBytes(workload.output.dtype)));
  ValueLists lists(workload, space);
  for (const std::string &name : knobNames(workload, loopRoles(workload)))
    space.knobs.push_back({name, lists.of(name)});
  return space;
}
