// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Untuned layouts: blocks of channels that the machine is good at, and none that are mostly padding.
#include "test/unit/Results.h"
#include "test/unit/driver/RunText.h"
#include "test/unit/schedule/TestWorkloads.h"
#include "tools/ChooseModel.h"

#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/FormatVariadic.h"

#include <gtest/gtest.h>

using namespace autotune;

static Device deviceOf(int family, Isa isa) {
  Device device = testDevice(isa);
  device.family = family;
  return device;
}

static constexpr int kZen4 = 25, kZen5 = 26;

/// The block that the only chain of a 5x5 convolution gets, untuned.
static int chosenBlock(int channels, int filters, const Device &device) {
  std::string path = valueOf(test::writeText(llvm::formatv(R"(
    func.func @main(%x: tensor<1x{0}x30x30xf32>) -> tensor<1x{1}x26x26xf32> {{
      %w = arith.constant dense<0.5> : tensor<{1}x{0}x5x5xf32>
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<1x{1}x26x26xf32>
      %init = linalg.fill ins(%zero : f32) outs(%e : tensor<1x{1}x26x26xf32>) -> tensor<1x{1}x26x26xf32>
      %y = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x{0}x30x30xf32>, tensor<{1}x{0}x5x5xf32>)
                                    outs(%init : tensor<1x{1}x26x26xf32>) -> tensor<1x{1}x26x26xf32>
      return %y : tensor<1x{1}x26x26xf32>
    })",
                                                           channels, filters)
                                                 .str()));
  llvm::FileRemover remover(path);
  ImportedModel model = valueOf(importForTarget(path, {}));
  ChosenProfile chosen =
      valueOf(chooseProfile(model, 0, *Knowledge::none(device), ChoiceTarget{.threads = 1}));
  EXPECT_EQ(chosen.layouts.size(), 1u);
  return chosen.layouts.front().choice.region.channelBlock;
}

TEST(LayoutChoice, ManyChannelsComeInBlocksOfOneVector) {
  EXPECT_EQ(chosenBlock(64, 64, deviceOf(kZen5, Isa::Avx512)), 16);
  EXPECT_EQ(chosenBlock(64, 64, deviceOf(kZen4, Isa::Avx512)), 16);
  EXPECT_EQ(chosenBlock(64, 64, deviceOf(kZen4, Isa::Avx2)), 8);
}

TEST(LayoutChoice, HalfVectorsAreWorthwhileWhereTheyTakeHalfTheTime) {
  EXPECT_EQ(chosenBlock(40, 40, deviceOf(kZen4, Isa::Avx512)), 8);
  EXPECT_NE(chosenBlock(40, 40, deviceOf(kZen5, Isa::Avx512)), 8);
}

TEST(LayoutChoice, OneFilterIsNotPaddedToABlock) {
  EXPECT_EQ(chosenBlock(32, 1, deviceOf(kZen4, Isa::Avx512)), 0);
  EXPECT_EQ(chosenBlock(32, 1, deviceOf(kZen5, Isa::Avx512)), 0);
  EXPECT_EQ(chosenBlock(32, 1, deviceOf(kZen4, Isa::Avx2)), 0);
}
