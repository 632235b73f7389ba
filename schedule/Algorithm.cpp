// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names of algorithms, and the loops of a convolution under each.
#include "schedule/Algorithm.h"

#include "llvm/Support/MathExtras.h"

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
      operand(s.dtype, {points, s.outBlocks, channels, s.block}, {{{P, 1}}, {{O, 1}}, {{K, 1}}, {{V, 1}}});
  filter.constant = true;
  workload.inputs = {operand(s.dtype, {points, tiles, channels}, {{{P, 1}}, {{T, 1}}, {{K, 1}}}),
                     std::move(filter)};
  workload.output =
      operand(s.dtype, {points, tiles, s.outBlocks, s.block}, {{{P, 1}}, {{T, 1}}, {{O, 1}}, {{V, 1}}});
  return workload;
}
