// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Footprints of the blocks of a nest, and the traffic that follows from them.
#include "cost_model/Footprint.h"

#include "schedule/Algorithm.h"
#include "schedule/LoopRoles.h"
#include "schedule/WinogradNest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace autotune;

static constexpr int64_t kLineBytes = 64;
// Other data, and the line-grained mess that a footprint leaves out, take the rest of a cache.
static constexpr double kUsableShare = 0.8;
static constexpr int64_t kCacheWays = 8;
// Runs below four lines end before a stream prefetcher has seen them.
static constexpr int64_t kShortRunBytes = 256;

namespace {

struct Loop {
  int dim;
  double trips;
};

/// What one block of loops touches of one array.
struct Touched {
  double bytes = 0;    // whole cache lines
  double occupied = 0; // share of a cache that it takes, in bytes: more than `bytes` when its lines collide
  bool shortRuns = false;
};

struct Array {
  const OperandInfo *operand;
  bool output;
};

class TrafficModel {
public:
  TrafficModel(const Workload &workload, const LoopNest &nest);
  double into(double capacity, bool coldWeightsOnly, double *strided) const;
  double evicted(double capacity) const;
  double workingSet() const;
  double activationBytes() const;

private:
  Touched touch(const OperandInfo &operand, const std::vector<int64_t> &spans, int64_t wayBytes) const;
  bool fits(size_t depth, double capacity) const;

  std::vector<Loop> loops;                 // outermost first
  std::vector<std::vector<int64_t>> spans; // by depth: extent of each dim inside the loops from there on
  std::vector<Array> arrays;
};

} // namespace

TrafficModel::TrafficModel(const Workload &workload, const LoopNest &nest) {
  std::vector<int64_t> left;
  for (const LoopDim &dim : workload.dims)
    left.push_back(dim.extent);
  spans.push_back(left);
  auto enter = [&](int dim, int64_t step) {
    if (step >= left[dim])
      return;
    loops.push_back({dim, double(left[dim]) / double(step)});
    left[dim] = step;
    spans.push_back(left);
  };
  for (const TileLoop &loop : nest.tiles)
    enter(loop.dim, loop.step);
  for (const ReductionLoop &loop : nest.reductions)
    enter(loop.dim, loop.unroll);
  for (const OperandInfo &input : workload.inputs)
    arrays.push_back({&input, false});
  arrays.push_back({&workload.output, true});
}

Touched TrafficModel::touch(const OperandInfo &operand, const std::vector<int64_t> &extents,
                            int64_t wayBytes) const {
  int64_t run = elementBytes(operand.dtype), stride = run;
  double runs = 1;
  bool contiguous = true;
  for (size_t axis = operand.index.size(); axis-- > 0;) {
    int64_t span = 1;
    for (const IndexTerm &term : operand.index[axis])
      span += std::abs(term.coefficient) * (extents[term.dim] - 1);
    span = std::min(span, operand.shape[axis]);
    if (contiguous) {
      run *= span;
      stride *= operand.shape[axis];
      contiguous = span == operand.shape[axis];
    } else {
      runs *= double(span);
    }
  }
  Touched touched;
  int64_t lineRun = (run + kLineBytes - 1) / kLineBytes * kLineBytes;
  touched.bytes = touched.occupied = runs * double(lineRun);
  touched.shortRuns = runs > 1 && lineRun < kShortRunBytes;
  // Runs at a stride that shares a power of two with the size of a way fall on few sets.
  int64_t period = std::gcd(stride, wayBytes);
  if (runs > kCacheWays && period > lineRun)
    touched.occupied = std::min(touched.bytes * double(period) / double(lineRun), runs * double(period));
  return touched;
}

bool TrafficModel::fits(size_t depth, double capacity) const {
  double occupied = 0;
  for (const Array &array : arrays)
    occupied += touch(*array.operand, spans[depth], int64_t(capacity) / kCacheWays).occupied;
  return occupied <= capacity * kUsableShare;
}

double TrafficModel::into(double capacity, bool coldWeightsOnly, double *strided) const {
  size_t depth = 0;
  while (depth < loops.size() && !fits(depth, capacity))
    ++depth;
  double total = 0;
  for (const Array &array : arrays) {
    if (coldWeightsOnly && !array.operand->constant)
      continue;
    // Outwards over the loops that find the array where they left it; neighbouring blocks of the first loop
    // that moves along it overlap (a sliding window), so that loop brings in the union.
    size_t level = depth;
    while (level > 0 && !usesDim(*array.operand, loops[level - 1].dim))
      --level;
    size_t base = level > 0 ? level - 1 : 0;
    Touched touched = touch(*array.operand, spans[base], kLineBytes);
    double bytes = touched.bytes * (array.output ? 2 : 1); // read for ownership, then written back
    for (size_t outer = 0; outer < base; ++outer)
      bytes *= loops[outer].trips;
    total += bytes;
    if (strided && touched.shortRuns)
      *strided += bytes;
  }
  return total;
}

/// Rows of a register tile whose lines share too few sets are gone when the next step of the reduction reads
/// on in them.
double TrafficModel::evicted(double capacity) const {
  if (loops.empty() || fits(loops.size(), capacity))
    return 0;
  double steps = 1, total = 0;
  for (const Loop &loop : loops)
    steps *= loop.trips;
  for (const Array &array : arrays) {
    Touched touched = touch(*array.operand, spans.back(), int64_t(capacity) / kCacheWays);
    if (touched.occupied > touched.bytes && usesDim(*array.operand, loops.back().dim))
      total += touched.bytes * steps;
  }
  return total;
}

double TrafficModel::workingSet() const {
  double bytes = 0;
  for (const Array &array : arrays)
    bytes += touch(*array.operand, spans.front(), kLineBytes).bytes;
  return bytes;
}

double TrafficModel::activationBytes() const {
  double bytes = 0;
  for (const Array &array : arrays)
    if (!array.operand->constant)
      bytes += touch(*array.operand, spans.front(), kLineBytes).bytes;
  return bytes;
}

static Traffic trafficOf(const Workload &workload, const LoopNest &nest, const Device &device) {
  TrafficModel model(workload, nest);
  double l2 = double(device.l2Bytes), l3 = double(std::max(device.l3Bytes, device.l2Bytes));
  double activations = model.activationBytes();
  Traffic traffic;
  traffic.workingSet = model.workingSet();
  traffic.intoL1 = model.into(double(device.l1Bytes), false, &traffic.stridedL1);
  traffic.evictedL1 = model.evicted(double(device.l1Bytes));
  traffic.intoL2 = model.into(l2, activations <= l2 * kUsableShare, nullptr);
  traffic.intoL3 = model.into(l3, activations <= l3 * kUsableShare, nullptr);
  return traffic;
}

namespace {

/// The products of a Winograd kernel with its temporaries as they are: transforms of one block of tiles,
/// products of one group of output channels. Loops (b, g, p, t, o, v | k) over blocks of tiles and groups of
/// channels first.
struct UnfoldedWinograd {
  Workload workload;
  LoopNest nest;

  UnfoldedWinograd(const Workload &folded, const WinogradBlocking &blocking);
};

} // namespace

UnfoldedWinograd::UnfoldedWinograd(const Workload &folded, const WinogradBlocking &blocking)
    : workload(folded) {
  enum { B, G, P, T, O, V, K };
  auto extent = [&](int dim) { return folded.dims[dim].extent; };
  int64_t planes = blocking.planes, outBlocks = extent(kOutBlockLoop), channels = extent(kInChannelLoop);
  auto blocks = int64_t(llvm::divideCeil(extent(kTileLoop), blocking.tiles));
  auto groups = int64_t(llvm::divideCeil(outBlocks, planes));
  workload.dims = {{blocks, false},         {groups, false}, {extent(kPointLoop), false},
                   {blocking.tiles, false}, {planes, false}, {extent(kLaneLoop), false},
                   {channels, true}};
  workload.inputs[0].shape = {extent(kPointLoop), blocking.tiles, channels};
  workload.inputs[0].index = {{{P, 1}}, {{T, 1}}, {{K, 1}}};
  workload.inputs[1].index = {{{G, planes}, {O, 1}}, {{P, 1}}, {{K, 1}}, {{V, 1}}};
  workload.output.shape = {extent(kPointLoop), blocking.tiles, planes, extent(kLaneLoop)};
  workload.output.index = {{{P, 1}}, {{T, 1}}, {{O, 1}}, {{V, 1}}};
  if (blocking.chunkLoop == kOutBlockLoop)
    nest.tiles.push_back({G, std::max<int64_t>(1, blocking.chunk / planes)});
  nest.tiles.insert(nest.tiles.end(), {{B, 1}, {G, 1}, {P, 1}, {T, blocking.rows}});
  nest.reductions = {{K, blocking.unroll}};
}

/// Beside the products: the image once into the transforms, and the result once out of them.
static Traffic winogradTraffic(const Workload &workload, const LoopNest &nest,
                               const WinogradBlocking &blocking, const Device &device) {
  UnfoldedWinograd unfolded(workload, blocking);
  Traffic traffic = trafficOf(unfolded.workload, unfolded.nest, device);
  double outputs = double(winogradOutputs(workload.kind)), points = double(workload.dims[kPointLoop].extent);
  double perTile = double(workload.dims[kTileLoop].extent) * double(elementBytes(workload.output.dtype));
  double inChannels = double(workload.dims[kInChannelLoop].extent);
  double outChannels = double(workload.dims[kOutBlockLoop].extent * workload.dims[kLaneLoop].extent);
  double image = perTile * outputs * outputs * inChannels, result = perTile * outputs * outputs * outChannels;
  double ends = image + 2 * result;
  traffic.workingSet += image + result;
  // Transforms are written once, products written and read back.
  traffic.intoL1 += ends + perTile * points * (2 * inChannels + outChannels);
  if (image + result > double(device.l2Bytes) * kUsableShare)
    traffic.intoL2 += ends;
  if (image + result > double(std::max(device.l3Bytes, device.l2Bytes)) * kUsableShare)
    traffic.intoL3 += ends;
  return traffic;
}

/// Every step reads all weights again; the rest passes by once. Weights of one tile of units and a block of
/// the state serve all rows while they stay in L1.
static Traffic recurrenceTraffic(const Workload &workload, const LoopNest &nest, const Device &device) {
  enum { Way, Row, Unit, Step, Depth, Gate };
  auto extent = [&](int dim) { return double(workload.dims[dim].extent); };
  std::vector<int64_t> tile = nest.registerTile(workload);
  auto bytes = double(elementBytes(workload.output.dtype));
  double units =
      std::ceil(extent(Unit) / double(tile[Unit])) * double(tile[Unit]); // rests are computed again
  double weights = extent(Depth) * extent(Gate) * units * bytes;
  double ofTile = double(nest.reductions[1].unroll) * extent(Gate) * double(tile[Unit]) * bytes;
  double reads =
      ofTile <= double(device.l1Bytes) * kUsableShare ? 1 : std::ceil(extent(Row) / double(tile[Row]));
  double passing = extent(Way) * extent(Step) * extent(Row) * extent(Unit) * (extent(Gate) + 2) * bytes;
  double once = extent(Way) * weights, always = once * extent(Step);
  auto beyond = [&](int64_t cache) { return weights > double(cache) * kUsableShare ? always : once; };
  Traffic traffic;
  traffic.workingSet = once + passing;
  traffic.intoL1 = always * reads + passing;
  traffic.intoL2 = beyond(device.l2Bytes) + (traffic.workingSet > double(device.l2Bytes) ? passing : 0);
  traffic.intoL3 = beyond(std::max(device.l3Bytes, device.l2Bytes));
  return traffic;
}

Traffic autotune::nestTraffic(const Workload &workload, const LoopNest &nest, const Device &device) {
  if (winogradOutputs(workload.kind) > 0)
    if (auto blocking =
            winogradBlocking(nest, workload.dims[kTileLoop].extent, workload.dims[kOutBlockLoop].extent))
      return winogradTraffic(workload, nest, *blocking, device);
  if (loopRoles(workload).form == NestForm::Recurrence)
    return recurrenceTraffic(workload, nest, device);
  return trafficOf(workload, nest, device);
}
