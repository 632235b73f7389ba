// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packed constants hold every element in its place and zeros elsewhere.
#include "passes/PackConstant.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"

#include <gmock/gmock.h>

#include <numeric>

using namespace autotune;
using namespace mlir;
using testing::ElementsAre;

namespace {

class PackConstantTest : public testing::Test {
protected:
  DenseElementsAttr counting(ArrayRef<int64_t> shape) {
    auto type = RankedTensorType::get(shape, Float32Type::get(&context));
    std::vector<float> values(type.getNumElements());
    std::iota(values.begin(), values.end(), 1.0f);
    return DenseElementsAttr::get(type, llvm::ArrayRef(values));
  }
  static std::vector<float> values(DenseElementsAttr attr) {
    auto all = attr.getValues<float>();
    return {all.begin(), all.end()};
  }
  static ArrayRef<int64_t> shape(DenseElementsAttr attr) {
    return cast<ShapedType>(attr.getType()).getShape();
  }

  MLIRContext context;
};

} // namespace

TEST_F(PackConstantTest, PermutesAxes) {
  DenseElementsAttr packed = packConstant(counting({2, 3}), {{1, 3}, {0, 2}});
  EXPECT_THAT(shape(packed), ElementsAre(3, 2));
  EXPECT_THAT(values(packed), ElementsAre(1, 4, 2, 5, 3, 6));
}

TEST_F(PackConstantTest, PanelsEndInZeros) {
  // [2, 5] in panels of four columns: [2 panels, 2 rows, 4].
  DenseElementsAttr packed = packConstant(counting({2, 5}), {{1, 2, 4}, {0, 2}, {1, 4}});
  EXPECT_THAT(shape(packed), ElementsAre(2, 2, 4));
  EXPECT_THAT(values(packed), ElementsAre(1, 2, 3, 4, 6, 7, 8, 9, 5, 0, 0, 0, 10, 0, 0, 0));
}

TEST_F(PackConstantTest, WeightsInBlocksKeepEveryElement) {
  // [O, I, KH, KW] = [3, 5, 2, 1] in blocks of four: [1, 2, 2, 1, 4 of I, 4 of O].
  DenseElementsAttr source = counting({3, 5, 2, 1});
  DenseElementsAttr packed = packConstant(source, {{0, 1, 4}, {1, 2, 4}, {2, 2}, {3, 1}, {1, 4}, {0, 4}});
  EXPECT_THAT(shape(packed), ElementsAre(1, 2, 2, 1, 4, 4));
  std::vector<float> from = values(source), to = values(packed);
  for (int64_t ib = 0, at = 0; ib < 2; ++ib)
    for (int64_t kh = 0; kh < 2; ++kh)
      for (int64_t ic = 0; ic < 4; ++ic)
        for (int64_t o = 0; o < 4; ++o, ++at) {
          int64_t i = ib * 4 + ic;
          float expected = i < 5 && o < 3 ? from[(o * 5 + i) * 2 + kh] : 0.0f;
          EXPECT_EQ(to[at], expected) << "i " << i << " kh " << kh << " o " << o;
        }
}

TEST_F(PackConstantTest, SplatsArePaddedToo) {
  auto type = RankedTensorType::get({3}, Float32Type::get(&context));
  DenseElementsAttr packed = packConstant(DenseElementsAttr::get(type, 7.0f), {{0, 2, 2}, {0, 2}});
  EXPECT_THAT(values(packed), ElementsAre(7, 7, 7, 0));
}

TEST_F(PackConstantTest, OtherElementTypesAreMovedAsBytes) {
  auto type = RankedTensorType::get({3}, IntegerType::get(&context, 8));
  DenseElementsAttr packed =
      packConstant(DenseElementsAttr::get(type, ArrayRef<int8_t>{1, -2, 3}), {{0, 1, 4}, {0, 4}});
  EXPECT_EQ(cast<ShapedType>(packed.getType()).getElementType(), IntegerType::get(&context, 8));
  EXPECT_THAT(llvm::to_vector(packed.getValues<int8_t>()), ElementsAre(1, -2, 3, 0));
}
