// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Port, latency and overhead model of one register tile.
#include "cost_model/TileCost.h"

#include "schedule/Algorithm.h"
#include "schedule/Space.h"
#include "schedule/WinogradNest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <map>

using namespace autotune;

// Zen 3 and later, Golden Cove and later (the vendors' optimisation manuals agree within one cycle).
static constexpr double kFmaPorts = 2;
// Two, of which refills of L1 and split lines take a part: measured on Zen 3 with load-bound tiles.
static constexpr double kLoadPorts = 1.8;
static constexpr double kFmaLatency = 4;
static constexpr double kIssueWidth = 6;
static constexpr double kStorePorts = 1;
// Counter, compare and branch with an address each for two operands.
static constexpr double kLoopInstructions = 4;
// Entering a tile: addresses, zeroing, the first loads' latency, the last FMAs' drain; half of it overlaps
// the neighbours.
static constexpr double kTileStartCycles = 12;
static constexpr double kReductionLoopCycles = 2;
// What an iteration of the innermost loop costs beyond its issue slots (taken branches end a fetch group).
static constexpr double kInnerIterationCycles = 0.15;
// Code of one tile beyond this leaves the micro-op cache; from then on the decoders limit.
static constexpr double kCachedInstructions = 1024;
static constexpr double kDecodeWidth = 4;
// Addresses of a row of a tile that is loaded and stored once.
static constexpr double kRowCycles = 0.5;
// A vector read element by element: one load and one insert for each.
static constexpr double kGatherCyclesPerElement = 1;
// Adding up the lanes of one vector: three shuffles and three additions, dependent.
static constexpr double kHorizontalCycles = 14;
// A reciprocal, exp, tanh or erf as a polynomial, in arithmetic instructions.
static constexpr double kTranscendentalCost = 14;

// Beside the accumulators of a window: the element that is read, and its comparison with what is not a
// number.
static constexpr double kWindowTemporaries = 2;

// Of one line of a Winograd transform of 4 x 4 and of 2 x 2 outputs, for inputs and for products
// (passes/WinogradTransform).
static constexpr double kInputLine4 = 12, kInputLine2 = 4, kProductLine4 = 10, kProductLine2 = 4;
// A transform has more vectors than registers, so each is spilled and read again on the way from rows to
// columns.
static constexpr double kTransformSpill = 2;

static BlockSizes merge(const std::map<int64_t, int64_t> &counts) {
  return BlockSizes(counts.rbegin(), counts.rend());
}

static void cut(int64_t extent, int64_t times, llvm::ArrayRef<int64_t> steps,
                std::map<int64_t, int64_t> &counts) {
  while (!steps.empty() && steps.front() >= extent)
    steps = steps.drop_front();
  if (steps.empty()) {
    counts[extent] += times;
    return;
  }
  int64_t step = steps.front();
  cut(step, times * (extent / step), steps.drop_front(), counts);
  if (extent % step)
    cut(extent % step, times, steps.drop_front(), counts);
}

BlockSizes autotune::cutBlocks(int64_t extent, const std::vector<int64_t> &steps) {
  std::map<int64_t, int64_t> counts;
  cut(extent, 1, steps, counts);
  return merge(counts);
}

namespace {

/// How a vector along `dim` is read from an array.
enum class Access { Contiguous, Broadcast, Gather };

struct Tile {
  int64_t rows = 1, planes = 1, cols = 1;
};

/// Of one step of a reduction, for a whole tile.
struct StepCost {
  double arithmetic = 0, loads = 0; // slots of their ports
  double instructions = 0;
};

class TilePricer {
public:
  TilePricer(const Workload &workload, const LoopNest &nest, const Device &device)
      : workload(workload), nest(nest), roles(loopRoles(workload)), registers(device.vectorRegisters()),
        lanes(lanesOf(device.vectorBytes())), width(lanesOf(device.datapathBytes())) {}

  TileCost price();

private:
  BlockSizes blocks(int dim) const;
  Access access(const OperandInfo &operand) const;
  double loadsOf(const OperandInfo &operand, double rows, int64_t cols) const;
  void addTile(const Tile &tile, double count, TileCost &cost) const;
  void addContraction(const Tile &tile, double count, TileCost &cost) const;
  void addWindow(const Tile &tile, double count, TileCost &cost) const;
  void addRows(const Tile &tile, double count, TileCost &cost) const;
  void addPointwise(const Tile &tile, double count, TileCost &cost) const;
  void addSteps(double count, double steps, const StepCost &step, TileCost &cost) const;
  void addEnd(const Tile &tile, double count, TileCost &cost) const;
  void addTransforms(TileCost &cost) const;
  TileCost priceRows() const;
  TileCost priceAttention() const;
  int64_t keptByRows(const OperandInfo &operand, const Tile &tile) const;
  TileCost priceRecurrence() const;
  int lanesOf(int bytes) const { return std::max<int>(1, bytes / int(elementBytes(workload.output.dtype))); }
  /// Registers that `cols` elements fill, and instructions on them.
  double vectorsOf(int64_t cols) const { return double(llvm::divideCeil(cols, lanes)); }
  /// Cycles of one unit that an operation on them takes.
  double slotsOf(int64_t cols) const { return double(llvm::divideCeil(cols, width)); }
  double epilogueCost() const;
  double unroll() const { return nest.reductions.empty() ? 1 : double(nest.reductions.back().unroll); }

  const Workload &workload;
  const LoopNest &nest;
  LoopRoles roles;
  int registers, lanes, width; // elements in a register, and in what a unit takes at once
};

} // namespace

BlockSizes TilePricer::blocks(int dim) const {
  if (dim < 0)
    return {{1, 1}};
  std::vector<int64_t> steps;
  for (const TileLoop &loop : nest.tiles)
    if (loop.dim == dim)
      steps.push_back(loop.step);
  return cutBlocks(workload.dims[dim].extent, steps);
}

Access TilePricer::access(const OperandInfo &operand) const {
  if (roles.vector < 0 || !usesDim(operand, roles.vector))
    return Access::Broadcast;
  for (const IndexTerm &term : operand.index.back())
    if (term.dim == roles.vector)
      return term.coefficient == 1 ? Access::Contiguous : Access::Gather;
  return Access::Gather;
}

/// Slots of the load ports for `rows` rows of `cols` elements.
double TilePricer::loadsOf(const OperandInfo &operand, double rows, int64_t cols) const {
  switch (access(operand)) {
  case Access::Contiguous:
    return rows * slotsOf(cols);
  case Access::Broadcast:
    return rows * slotsOf(std::min<int64_t>(cols, lanes)); // one register, which is filled as a whole
  case Access::Gather:
    return rows * double(cols) * kGatherCyclesPerElement * kLoadPorts;
  }
  llvm_unreachable("every access has a cost");
}

double TilePricer::epilogueCost() const {
  double cost = 0;
  for (llvm::StringRef op : workload.epilogue)
    cost += op.starts_with("math.") || op == "arith.divf" ? kTranscendentalCost : 1;
  return cost;
}

/// `steps` steps of a loop that carries independent vectors, one operation on each of them.
void TilePricer::addSteps(double count, double steps, const StepCost &step, TileCost &cost) const {
  double arithmeticCycles = step.arithmetic / kFmaPorts;
  double loadCycles = step.loads / kLoadPorts;
  // A step needs the accumulators of the step before it.
  double latency = kFmaLatency;
  double instructions = step.instructions + kLoopInstructions / unroll();
  double issue = instructions / (instructions * unroll() > kCachedInstructions ? kDecodeWidth : kIssueWidth);
  double longest =
      std::max({arithmeticCycles, loadCycles, latency, issue}) + kInnerIterationCycles / unroll();
  cost.cycles += count * steps * longest;
  cost.arithmeticCycles += count * steps * arithmeticCycles;
  cost.loadCycles += count * steps * loadCycles;
  cost.latencyCycles +=
      count * steps * std::max(0.0, latency - std::max({arithmeticCycles, loadCycles, issue}));
  double trips = 1, control = 0;
  for (const ReductionLoop &loop : nest.reductions) {
    trips *= double(workload.dims[loop.dim].extent) / double(loop.unroll);
    control += trips > 1 ? trips * kReductionLoopCycles : 0;
  }
  // The innermost loop's control is part of the steps; entering it is not.
  if (!nest.reductions.empty()) {
    double inner = double(workload.dims[nest.reductions.back().dim].extent) / unroll();
    control += (inner > 1 ? trips / inner : 0) * kReductionLoopCycles -
               (trips > 1 ? trips * kReductionLoopCycles : 0);
  }
  cost.loopCycles += count * control;
  cost.cycles += count * control;
}

/// Start of a tile, its epilogue and its stores.
void TilePricer::addEnd(const Tile &tile, double count, TileCost &cost) const {
  double slots = double(tile.rows * tile.planes) * slotsOf(tile.cols);
  // The tail of a Winograd kernel is part of its transform back.
  double epilogue = roles.form == NestForm::Winograd ? 0 : epilogueCost();
  double end =
      slots * (epilogue / kFmaPorts + 1 / kStorePorts) + double(tile.rows * tile.planes) * kRowCycles;
  cost.cycles += count * (kTileStartCycles + end);
  cost.loopCycles += count * kTileStartCycles;
  cost.arithmeticCycles += count * slots * epilogue / kFmaPorts;
}

/// Both transforms and the tail of a Winograd convolution, for all its tiles.
void TilePricer::addTransforms(TileCost &cost) const {
  double outputs = double(winogradOutputs(workload.kind)), side = outputs + 2;
  double tiles = double(workload.dims[kTileLoop].extent);
  double slotsPerBlock = slotsOf(workload.dims[kLaneLoop].extent);
  double inVectors = tiles * double(workload.dims[kInChannelLoop].extent) /
                     double(workload.dims[kLaneLoop].extent) * slotsPerBlock;
  double outVectors = tiles * double(workload.dims[kOutBlockLoop].extent) * slotsPerBlock;
  // Threads that share output channels transform the image each for itself.
  if (nest.parallel && nest.tiles.front().dim == kOutBlockLoop)
    inVectors *= double(nest.chunks(workload));
  double inputLine = outputs == 2 ? kInputLine2 : kInputLine4,
         productLine = outputs == 2 ? kProductLine2 : kProductLine4;
  double points = side * side, spills = kTransformSpill * points;
  double inArithmetic = 2 * side * inputLine / kFmaPorts;
  double outArithmetic = ((side + outputs) * productLine + outputs * outputs * epilogueCost()) / kFmaPorts;
  double cycles = inVectors * (inArithmetic + (points + spills) / kStorePorts / 2) +
                  outVectors * (outArithmetic + (outputs * outputs + spills) / kStorePorts / 2);
  cost.cycles += cycles;
  cost.arithmeticCycles += inVectors * inArithmetic + outVectors * outArithmetic;
}

/// Elements of `operand` that several rows of a tile read in different steps of an unrolled window
/// (`2 * row + step`): the compiler loads each once and keeps it meanwhile, in a register that it may not
/// have.
int64_t TilePricer::keptByRows(const OperandInfo &operand, const Tile &tile) const {
  if (roles.row < 0 || roles.reductions.empty() || unroll() <= 1)
    return 0;
  for (const std::vector<IndexTerm> &axis : operand.index) {
    int64_t stride = 0, dilation = 0;
    for (const IndexTerm &term : axis) {
      stride = term.dim == roles.row ? term.coefficient : stride;
      dilation = term.dim == roles.reductions.back() ? term.coefficient : dilation;
    }
    auto steps = int64_t(unroll());
    if (stride == 0 || dilation == 0 || stride % dilation != 0)
      continue;
    int64_t apart = stride / dilation; // steps from one row's first element to the next row's
    return (tile.rows - 1) * std::clamp<int64_t>(steps - apart, 0, apart);
  }
  return 0;
}

void TilePricer::addContraction(const Tile &tile, double count, TileCost &cost) const {
  auto rows = double(tile.rows), planes = double(tile.planes);
  double vectors = vectorsOf(tile.cols), accumulators = rows * planes * vectors;
  int64_t needed = int64_t(accumulators) + (tile.rows > 1 ? int64_t(planes * vectors) : 1) + 1 +
                   keptByRows(workload.inputs[roles.broadcastInput], tile);
  double spills = double(std::max<int64_t>(0, needed - registers));
  cost.spilled = std::max(cost.spilled, spills);
  StepCost step;
  step.arithmetic = rows * planes * slotsOf(tile.cols);
  step.loads = loadsOf(workload.inputs[roles.vectorInput], planes, tile.cols) +
               loadsOf(workload.inputs[roles.broadcastInput], rows, tile.cols) + 2 * spills * slotsOf(lanes);
  step.instructions = accumulators + planes * vectors + rows + 2 * spills;
  addSteps(count, double(reductionExtent(workload)), step, cost);
}

/// Unrolled along a window of stride 1, neighbouring rows read the same vectors: the compiler loads them
/// once.
void TilePricer::addWindow(const Tile &tile, double count, TileCost &cost) const {
  double vectors = vectorsOf(tile.cols), accumulators = double(tile.rows) * vectors;
  auto inputRows = double(tile.rows);
  if (roles.row >= 0 && !roles.reductions.empty() && !workload.inputs.empty()) {
    int window = roles.reductions.back();
    for (const auto &axis : workload.inputs[0].index) {
      const auto uses = [&](int dim) {
        return llvm::any_of(axis, [&](const IndexTerm &t) { return t.dim == dim && t.coefficient == 1; });
      };
      if (uses(window) && uses(roles.row))
        inputRows = (double(tile.rows) + unroll() - 1) / unroll();
    }
  }
  double needed = accumulators + kWindowTemporaries;
  StepCost step;
  step.arithmetic = double(tile.rows) * slotsOf(tile.cols);
  step.instructions = accumulators + inputRows * vectors;
  if (!workload.inputs.empty()) {
    step.loads = loadsOf(workload.inputs[0], inputRows, tile.cols);
    needed += double(keptByRows(workload.inputs[0], tile)) * vectors;
  }
  if (workload.opClass == OpClass::Depthwise && workload.inputs.size() > 1) {
    step.loads += loadsOf(workload.inputs[1], 1, tile.cols);
    step.instructions += vectors;
    needed += vectors;
  }
  double spills = std::max(0.0, needed - registers);
  cost.spilled = std::max(cost.spilled, spills);
  step.loads += 2 * spills * slotsOf(lanes);
  step.instructions += 2 * spills;
  addSteps(count, double(reductionExtent(workload)), step, cost);
}

void TilePricer::addRows(const Tile &tile, double count, TileCost &cost) const {
  double slots = double(tile.rows) * slotsOf(reductionExtent(workload));
  // The combine is a tree: nothing waits for long.
  double cycles =
      std::max(slots / kFmaPorts, slots / kLoadPorts) + double(tile.rows) * kHorizontalCycles / kFmaPorts;
  cost.arithmeticCycles += count * slots / kFmaPorts;
  cost.loadCycles += count * slots / kLoadPorts;
  cost.cycles += count * std::max(cycles, kHorizontalCycles);
}

void TilePricer::addPointwise(const Tile &tile, double count, TileCost &cost) const {
  auto rows = double(tile.rows * tile.planes);
  double loads = 0;
  for (const OperandInfo &input : workload.inputs) {
    double slots = loadsOf(input, rows, tile.cols);
    // A tile as wide as the vectors is transposed by shuffles instead of element by element.
    if (access(input) == Access::Gather)
      slots /= double(std::min<int64_t>(tile.rows, lanes));
    loads += slots;
  }
  cost.loadCycles += count * loads / kLoadPorts;
  cost.cycles += count * std::max(loads / kLoadPorts, rows * slotsOf(tile.cols) / kStorePorts);
}

void TilePricer::addTile(const Tile &tile, double count, TileCost &cost) const {
  switch (roles.form) {
  case NestForm::Contraction:
  case NestForm::Winograd:
    addContraction(tile, count, cost);
    break;
  case NestForm::Window:
    addWindow(tile, count, cost);
    break;
  case NestForm::RowReduction:
    addRows(tile, count, cost);
    break;
  case NestForm::Pointwise:
    addPointwise(tile, count, cost);
    break;
  case NestForm::Rows:
  case NestForm::Attention:
  case NestForm::Recurrence:
    break; // priced as a whole
  }
  addEnd(tile, count, cost);
}

/// Three passes over each row, two of which end in sums of lanes.
TileCost TilePricer::priceRows() const {
  TileCost cost;
  cost.tiles = 1;
  for (const LoopDim &dim : workload.dims)
    if (!dim.reduction)
      cost.tiles *= double(dim.extent);
  int64_t length = workload.dims.back().extent, step = nest.reductions.back().unroll;
  cost.accumulators = vectorsOf(step);
  // Polynomials keep several vectors alive for each of the step.
  constexpr double kLiveInPolynomial = 6;
  bool exponential = workload.kind == "softmax";
  cost.spilled = std::max(0.0, (exponential ? kLiveInPolynomial : 2) * cost.accumulators - registers);
  double vectors = double(length) / lanes, slots = double(length) / width;
  double iterations = 3 * double(length) / double(step);
  double rest = double(llvm::popcount(uint64_t(length % step))) * 3;
  double arithmetic = slots * (6 + (exponential ? kTranscendentalCost : 0)), loads = 5 * slots;
  double latency = 2 * vectors / cost.accumulators * kFmaLatency;
  double row = std::max({arithmetic / kFmaPorts, loads / kLoadPorts, latency}) +
               (iterations + rest) * (kInnerIterationCycles + kLoopInstructions / kIssueWidth) +
               2 * cost.spilled * iterations + 2 * kHorizontalCycles;
  cost.cycles = cost.tiles * (row + slots / kStorePorts);
  cost.arithmeticCycles = cost.tiles * arithmetic / kFmaPorts;
  cost.loadCycles = cost.tiles * loads / kLoadPorts;
  return cost;
}

/// Two products in register tiles of `planes` numbers by `rows` lanes, exponentials, and a transposition of
/// queries and results.
TileCost TilePricer::priceAttention() const {
  TileCost cost;
  int depthDim = int(workload.dims.size()) - 1;
  double depth = double(workload.dims[depthDim].extent), columns = double(workload.dims[depthDim - 1].extent);
  int64_t values = workload.dims[depthDim - 2].extent;
  double batch = 1;
  for (int dim = 0; dim < depthDim - 3; ++dim)
    batch *= double(workload.dims[dim].extent);
  int64_t planes = nest.registerTile(workload)[depthDim - 2];
  double block = double(nest.reductions.front().unroll);
  for (auto [rows, count] : blocks(roles.row)) {
    double vectors = vectorsOf(rows), slots = slotsOf(rows), tiles = batch * double(count);
    double accumulators = vectors * double(planes);
    cost.accumulators = std::max(cost.accumulators, accumulators);
    cost.spilled = std::max(cost.spilled, accumulators + vectors + 1 - registers);
    // One step of a tile: as many numbers broadcast as there are planes; few accumulators wait for each
    // other.
    double step =
        std::max({slots * double(planes) / kFmaPorts, (double(planes) * slotsOf(lanes) + slots) / kLoadPorts,
                  kFmaLatency, (accumulators + double(planes) + vectors + kLoopInstructions) / kIssueWidth}) +
        kInnerIterationCycles + 2 * std::max(0.0, cost.spilled);
    double scoreTiles = std::ceil(columns / double(planes)),
           valueTiles = std::ceil(double(values) / double(planes));
    double products = scoreTiles * (depth * step + kTileStartCycles) +
                      valueTiles * (columns * step + kTileStartCycles * std::ceil(columns / block));
    double weights = columns * slots * (kTranscendentalCost + 4) / kFmaPorts;
    double correction = std::ceil(columns / block) * (slots * kTranscendentalCost + double(values) * slots);
    double transposed = (depth + double(values)) * double(rows) * 0.5;
    cost.cycles += tiles * (products + weights + correction + transposed);
    cost.arithmeticCycles += tiles * columns * (depth + double(values)) * slots / kFmaPorts;
    cost.tiles += tiles;
  }
  cost.spilled = std::max(0.0, cost.spilled);
  return cost;
}

/// In every step, tiles of rows x units that sum their gates over the state, then the activations. What does
/// not divide is computed again.
TileCost TilePricer::priceRecurrence() const {
  enum { Way, Row, Unit, Step, Depth, Gate };
  auto extent = [&](int dim) { return double(workload.dims[dim].extent); };
  std::vector<int64_t> tile = nest.registerTile(workload);
  double rows = double(tile[Row]), vectors = extent(Gate) * vectorsOf(tile[Unit]);
  double slots = extent(Gate) * slotsOf(tile[Unit]);
  double rowTiles = std::ceil(extent(Row) / rows), unitTiles = std::ceil(extent(Unit) / double(tile[Unit]));
  TileCost cost;
  cost.tiles = extent(Way) * extent(Step) * rowTiles * unitTiles;
  cost.accumulators = rows * vectors;
  cost.spilled = std::max(0.0, cost.accumulators + rows + 1 - registers);
  double arithmetic = rows * slots / kFmaPorts, loads = (slots + rows * slotsOf(lanes)) / kLoadPorts;
  double issue = (cost.accumulators + rows + (rows > 1 ? vectors : 0) + kLoopInstructions) / kIssueWidth;
  double sum = std::max({arithmetic, loads, kFmaLatency, issue}) + kInnerIterationCycles + 2 * cost.spilled;
  // Every gate and the cell state have an activation.
  double activations = rows * (slots + slotsOf(tile[Unit])) * (kTranscendentalCost + 2) / kFmaPorts;
  // Between two blocks of the state, sums wait in memory.
  double blocks = rowTiles > 1 ? std::ceil(extent(Depth) / double(nest.reductions[1].unroll)) : 1;
  double waiting = blocks > 1 ? (blocks + 1) * rows * slots / kStorePorts + blocks * kTileStartCycles : 0;
  cost.cycles = cost.tiles * (extent(Depth) * sum + activations + kTileStartCycles + waiting);
  cost.arithmeticCycles = cost.tiles * (extent(Depth) * arithmetic + activations);
  cost.loadCycles = cost.tiles * extent(Depth) * loads;
  return cost;
}

TileCost TilePricer::price() {
  if (roles.form == NestForm::Rows)
    return priceRows();
  if (roles.form == NestForm::Attention)
    return priceAttention();
  if (roles.form == NestForm::Recurrence)
    return priceRecurrence();
  TileCost cost;
  double others = 1;
  for (size_t dim = 0; dim < workload.dims.size(); ++dim)
    if (!workload.dims[dim].reduction && int(dim) != roles.row && int(dim) != roles.plane &&
        int(dim) != roles.vector)
      others *= double(workload.dims[dim].extent);
  double largest = 0;
  for (auto [rows, rowCount] : blocks(roles.row))
    for (auto [planes, planeCount] : blocks(roles.plane))
      for (auto [cols, colCount] : blocks(roles.vector)) {
        double count = others * double(rowCount * planeCount * colCount);
        addTile({rows, planes, cols}, count, cost);
        cost.accumulators = std::max(cost.accumulators, double(rows * planes) * vectorsOf(cols));
        largest = std::max(largest, cost.tiles == 0 ? count : largest);
        cost.tiles += count;
      }
  if (roles.form == NestForm::Winograd)
    addTransforms(cost);
  cost.fullTileShare = cost.tiles > 0 ? largest / cost.tiles : 1;
  return cost;
}

TileCost autotune::tileCost(const Workload &workload, const LoopNest &nest, const Device &device) {
  return TilePricer(workload, nest, device).price();
}
