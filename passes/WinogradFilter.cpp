// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which convolutions have a transform, and the layout of transformed filters.

#include "passes/WinogradFilter.h"

#include "passes/OpRoles.h"
#include "schedule/Algorithm.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <vector>

using namespace mlir;

namespace autotune {
namespace {

/// On smaller images most of a tile is border and the direct algorithm is as good.
constexpr int64_t kFewestOutputs = 5;

bool isOnes(DenseIntElementsAttr values) {
  return llvm::all_of(values.getValues<int64_t>(), [](int64_t value) { return value == 1; });
}

/// True if an output channel sums differences of neighbouring pixels only (an edge detector): where the image
/// is smooth, what is left is far smaller than the sums of pixels that Winograd's algorithm rounds.
bool hasDerivative(DenseElementsAttr filters) {
  constexpr double kLeastSum = 1e-2; // of the taps' magnitudes; a third for random taps
  auto type = cast<RankedTensorType>(filters.getType());
  auto value = filters.getValues<float>().begin();
  for (int64_t o = 0; o < type.getDimSize(0); ++o) {
    double sums = 0, magnitudes = 0;
    for (int64_t i = 0; i < type.getDimSize(1); ++i) {
      double sum = 0;
      for (int tap = 0; tap < 9; ++tap, ++value) {
        sum += *value;
        magnitudes += std::abs(*value);
      }
      sums += std::abs(sum);
    }
    if (sums < kLeastSum * magnitudes)
      return true;
  }
  return false;
}

} // namespace

bool canFilterMinimally(linalg::Conv2DNchwFchwOp conv) {
  DenseElementsAttr filters = constantValue(conv.getInputs()[1]);
  auto fill = conv.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  if (!filters || !fill || !filters.getElementType().isF32() || !isOnes(conv.getStrides()) ||
      !isOnes(conv.getDilations()) || !matchPattern(fill.getInputs()[0], m_PosZeroFloat()))
    return false;
  ArrayRef<int64_t> taps = cast<ShapedType>(filters.getType()).getShape().drop_front(2);
  ArrayRef<int64_t> result = cast<ShapedType>(conv.getResult(0).getType()).getShape().drop_front(2);
  return taps[0] == 3 && taps[1] == 3 && result[0] >= kFewestOutputs && result[1] >= kFewestOutputs &&
         !hasDerivative(filters);
}

DenseElementsAttr transformFilters(DenseElementsAttr filters, int64_t outputs, int64_t block) {
  auto type = cast<RankedTensorType>(filters.getType());
  int64_t outChannels = type.getDimSize(0), inChannels = type.getDimSize(1), side = outputs + 2;
  int64_t outBlocks = int64_t(llvm::divideCeil(outChannels, block));
  int64_t paddedIn = int64_t(llvm::alignTo(inChannels, block));
  std::vector<float> source(filters.getValues<float>().begin(), filters.getValues<float>().end());
  int64_t pointStride = paddedIn * block, blockStride = side * side * pointStride;
  std::vector<float> result(size_t(outBlocks * blockStride), 0.0f);
  for (int64_t o = 0; o < outChannels; ++o)
    for (int64_t i = 0; i < inChannels; ++i) {
      const float *taps = source.data() + (o * inChannels + i) * 9;
      float *target = result.data() + o / block * blockStride + i * block + o % block;
      transformFilter(outputs, taps, target, pointStride);
    }
  auto resultType = RankedTensorType::get({outBlocks, side * side, paddedIn, block}, type.getElementType());
  return DenseElementsAttr::get(resultType, llvm::ArrayRef(result));
}

} // namespace autotune
