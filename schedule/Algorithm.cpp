// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names of algorithms, and the loops of a convolution under each.
#include "schedule/Algorithm.h"

#include "llvm/Support/MathExtras.h"

#include <array>

using namespace autotune;

static constexpr llvm::StringLiteral kNames[] = {"direct", "view", "winograd2", "winograd4"};
static constexpr int64_t kTap = 3; // side of the filter

llvm::ArrayRef<llvm::StringLiteral> autotune::algorithmNames() { return kNames; }

std::string autotune::winogradName(int64_t outputs) { return "winograd" + std::to_string(outputs); }

int64_t autotune::winogradOutputs(llvm::StringRef name) {
  for (int64_t outputs : {2, 4}) {
    llvm::StringRef rest = name;
    if (rest.consume_front(winogradName(outputs)) && (rest.empty() || rest.starts_with("_")))
      return outputs;
  }
  return 0;
}

using FilterRow = std::array<double, 3>;

static constexpr FilterRow kTwo[] = {{1, 0, 0}, {.5, .5, .5}, {.5, -.5, .5}, {0, 0, 1}};
static constexpr FilterRow kFour[] = {{1. / 4, 0, 0},
                                      {-1. / 6, -1. / 6, -1. / 6},
                                      {-1. / 6, 1. / 6, -1. / 6},
                                      {1. / 24, 1. / 12, 1. / 6},
                                      {1. / 24, -1. / 12, 1. / 6},
                                      {0, 0, 1}};

void autotune::transformFilter(int64_t outputs, const float *taps, float *target, int64_t stride) {
  llvm::ArrayRef<FilterRow> matrix = outputs == 2 ? llvm::ArrayRef(kTwo) : llvm::ArrayRef(kFour);
  int64_t side = outputs + 2;
  std::array<FilterRow, 6> rows; // G g
  for (int64_t a = 0; a < side; ++a)
    for (int64_t kw = 0; kw < 3; ++kw)
      rows[a][kw] = matrix[a][0] * taps[kw] + matrix[a][1] * taps[3 + kw] + matrix[a][2] * taps[6 + kw];
  for (int64_t a = 0; a < side; ++a)
    for (int64_t e = 0; e < side; ++e)
      target[(a * side + e) * stride] =
          float(rows[a][0] * matrix[e][0] + rows[a][1] * matrix[e][1] + rows[a][2] * matrix[e][2]);
}

/// An operand whose axes are read along one loop each, or along the sum of two.
static OperandInfo operand(const std::string &dtype, std::vector<int64_t> shape,
                           std::vector<std::vector<IndexTerm>> index) {
  OperandInfo info;
  info.dtype = dtype;
  info.offsets.assign(shape.size(), 0);
  info.shape = std::move(shape);
  info.index = std::move(index);
  return info;
}

Workload autotune::directConvolution(const BlockedConvolution &s) {
  enum { N, OH, OW, O, V, IB, KH, KW, IC };
  Workload workload;
  workload.kind = "conv";
  workload.opClass = OpClass::Contraction;
  workload.dims = {{s.images, false},    {s.height, false}, {s.width, false},
                   {s.outBlocks, false}, {s.block, false},  {s.inBlocks, true},
                   {kTap, true},         {kTap, true},      {s.block, true}};
  OperandInfo image =
      operand(s.dtype, {s.images, s.inBlocks, s.height + kTap - 1, s.width + kTap - 1, s.block},
              {{{N, 1}}, {{IB, 1}}, {{OH, 1}, {KH, 1}}, {{OW, 1}, {KW, 1}}, {{IC, 1}}});
  OperandInfo filter = operand(s.dtype, {s.outBlocks, s.inBlocks, kTap, kTap, s.block, s.block},
                               {{{O, 1}}, {{IB, 1}}, {{KH, 1}}, {{KW, 1}}, {{IC, 1}}, {{V, 1}}});
  filter.constant = true;
  workload.inputs = {std::move(image), std::move(filter)};
  workload.output = operand(s.dtype, {s.images, s.outBlocks, s.height, s.width, s.block},
                            {{{N, 1}}, {{O, 1}}, {{OH, 1}}, {{OW, 1}}, {{V, 1}}});
  return workload;
}

Workload autotune::winogradProducts(const BlockedConvolution &s, int64_t outputs) {
  enum { P, T, O, V, K };
  int64_t points = (outputs + kTap - 1) * (outputs + kTap - 1);
  int64_t tiles =
      s.images * int64_t(llvm::divideCeil(s.height, outputs)) * int64_t(llvm::divideCeil(s.width, outputs));
  int64_t channels = s.inBlocks * s.block;
  Workload workload;
  workload.kind = winogradName(outputs) + "_conv";
  workload.opClass = OpClass::Contraction;
  workload.dims = {{points, false}, {tiles, false}, {s.outBlocks, false}, {s.block, false}, {channels, true}};
  OperandInfo filter =
      operand(s.dtype, {s.outBlocks, points, channels, s.block}, {{{O, 1}}, {{P, 1}}, {{K, 1}}, {{V, 1}}});
  filter.constant = true;
  workload.inputs = {operand(s.dtype, {points, tiles, channels}, {{{P, 1}}, {{T, 1}}, {{K, 1}}}),
                     std::move(filter)};
  workload.output =
      operand(s.dtype, {points, tiles, s.outBlocks, s.block}, {{{P, 1}}, {{T, 1}}, {{O, 1}}, {{V, 1}}});
  return workload;
}
