// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The canonical text of workloads: stable, strict, and read back without loss.
#include "schedule/Workload.h"
#include "test/unit/Results.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace autotune;
using testing::HasSubstr;

/// A 3x3 convolution in blocked layout whose input carries a halo of one.
static Workload blockedConvolution() {
  Workload workload;
  workload.kind = "conv2d";
  workload.opClass = OpClass::Contraction;
  for (int64_t extent : {1, 8, 56, 56, 8})
    workload.dims.push_back({extent, false});
  for (int64_t extent : {8, 3, 3, 8})
    workload.dims.push_back({extent, true});
  workload.inputs.push_back({"f32",
                             {1, 8, 58, 58, 8},
                             {0, 0, 0, 0, 0},
                             {{{0, 1}}, {{5, 1}}, {{2, 1}, {6, 1}}, {{3, 1}, {7, 1}}, {{8, 1}}},
                             false});
  workload.inputs.push_back({"f32",
                             {8, 8, 3, 3, 8, 8},
                             {0, 0, 0, 0, 0, 0},
                             {{{1, 1}}, {{5, 1}}, {{6, 1}}, {{7, 1}}, {{8, 1}}, {{4, 1}}},
                             true});
  workload.output = {
      "f32", {1, 8, 58, 58, 8}, {0, 0, 1, 1, 0}, {{{0, 1}}, {{1, 1}}, {{2, 1}}, {{3, 1}}, {{4, 1}}}, false};
  workload.epilogue = {"arith.addf", "arith.maximumf"};
  workload.body = "0123456789abcdef";
  workload.threads = 2;
  return workload;
}

TEST(Workload, TextIsTheDocumentedCanonicalForm) {
  EXPECT_EQ(blockedConvolution().text(),
            "kind: conv2d\n"
            "class: contraction\n"
            "dims: p1 p8 p56 p56 p8 r8 r3 r3 r8\n"
            "input: f32 [1x8x58x58x8] +[0,0,0,0,0] (d0, d5, d2 + d6, d3 + d7, d8)\n"
            "input: f32 [8x8x3x3x8x8] +[0,0,0,0,0,0] (d1, d5, d6, d7, d8, d4) const\n"
            "output: f32 [1x8x58x58x8] +[0,0,1,1,0] (d0, d1, d2, d3, d4)\n"
            "epilogue: arith.addf, arith.maximumf\n"
            "body: 0123456789abcdef\n"
            "threads: 2\n"
            "numerics: default\n");
}

TEST(Workload, ParsingTheTextGivesTheSameWorkload) {
  EXPECT_EQ(valueOf(Workload::parse(blockedConvolution().text())), blockedConvolution());
}

TEST(Workload, EmptyFieldsAndOddIndicesRoundTrip) {
  Workload workload;
  workload.kind = "reduce_sum";
  workload.opClass = OpClass::Reduction;
  workload.dims = {{7, true}};
  workload.inputs.push_back({"i8", {1, 20, 9}, {0, 3, 8}, {{}, {{0, 2}}, {{0, -1}}}, false});
  workload.output = {"i32", {}, {}, {}, false};
  workload.numerics = Numerics::Strict;
  EXPECT_EQ(valueOf(Workload::parse(workload.text())), workload);
  EXPECT_THAT(workload.text(), HasSubstr("input: i8 [1x20x9] +[0,3,8] (0, 2*d0, -1*d0)\n"));
}

TEST(Workload, KeyIsTheHashOfTheTextAndChangesWithEveryField) {
  EXPECT_EQ(blockedConvolution().key(), hashText(blockedConvolution().text()));
  Workload other = blockedConvolution();
  other.threads = 1;
  EXPECT_NE(other.key(), blockedConvolution().key());
  other = blockedConvolution();
  other.output.offsets[2] = 0;
  EXPECT_NE(other.key(), blockedConvolution().key());
}

TEST(Workload, HashIsXxh3InSixteenLowerCaseDigits) { EXPECT_EQ(hashText(""), "2d06800538d394c2"); }

TEST(Workload, ErrorsNameLineFoundAndExpected) {
  std::string text = blockedConvolution().text();
  auto replaced = [&](const std::string &from, const std::string &to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    return messageOf(Workload::parse(changed));
  };
  EXPECT_EQ(replaced("class: contraction", "class: magic"),
            "workload line 2: found 'magic', expected one of: contraction, depthwise, reduction, "
            "elementwise, movement, normalization, attention, recurrence");
  EXPECT_EQ(replaced("p56", "q56"), "workload line 3: found 'q56 p56 p8 r8 r3 r3 r8', expected 'p'");
  EXPECT_THAT(replaced("d2 + d6", "d2 + d9"), HasSubstr("workload line 4: found '9, d3"));
  EXPECT_THAT(replaced("threads: 2", "threads: 0"),
              HasSubstr("line 9: found '0', expected a number of threads"));
  EXPECT_THAT(replaced("r3 r3", "r3 p3"), HasSubstr("expected parallel loops before reductions"));
  EXPECT_THAT(messageOf(Workload::parse(text + "more: 1\n")),
              HasSubstr("workload line 11: found 'more: 1', expected the end"));
}

TEST(Workload, OtherSpellingsOfTheSameValueAreRefused) {
  for (auto [from, to] : {std::pair{"p56", "p056"}, {"(d0,", "(1*d0,"}, {"threads: 2", "threads: 02"}}) {
    std::string text = blockedConvolution().text();
    text.replace(text.find(from), strlen(from), to);
    EXPECT_THAT(messageOf(Workload::parse(text)), HasSubstr("expected")) << to;
  }
}

TEST(Workload, NoDamageToTheTextCrashesOrPassesAsTheSameKey) {
  const std::string text = blockedConvolution().text();
  for (size_t length = 0; length < text.size(); ++length)
    EXPECT_NE(messageOf(Workload::parse(text.substr(0, length))), "") << length;
  for (size_t byte = 0; byte < text.size(); ++byte)
    for (int flip : {0x01, 0x20, 0x80}) {
      std::string damaged = text;
      damaged[byte] ^= char(flip);
      llvm::Expected<Workload> workload = Workload::parse(damaged);
      if (workload)
        EXPECT_NE(workload->key(), blockedConvolution().key());
      else
        llvm::consumeError(workload.takeError());
    }
}

TEST(Workload, FlopsAndBytesCountTheRootAndWhatItReaches) {
  Workload workload = blockedConvolution();
  EXPECT_EQ(workload.flops(), 2.0 * 64 * 56 * 56 * 64 * 9);
  EXPECT_EQ(workload.bytes(), 4.0 * (64 * 58 * 58 + 64 * 64 * 9 + 64 * 56 * 56));
}
