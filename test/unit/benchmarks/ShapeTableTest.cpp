// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "benchmarks/operators/ShapeTable.h"
#include "test/unit/Results.h"

#include <gmock/gmock.h>

#include <map>
#include <set>

using namespace autotune;
using namespace autotune::benchmarks;
using ::testing::HasSubstr;

namespace {

TEST(ShapeTable, readsEverySection) {
  auto shapes =
      valueOf(parseShapes("gemm:\n  a: {size: [2, 3, 4], tail: gelu}\n"
                          "attention:\n  b: {batch: 5, size: [2, 3, 4]}\n"
                          "convolution:\n  c: {input: [3, 8, 9], filters: 4, kernel: [1, 3], stride: 2}\n"
                          "depthwise:\n  d: {input: [3, 8, 9], kernel: 3, padding: 1, tail: relu6}\n"
                          "max_pool:\n  e: {input: [3, 8, 9], kernel: 2, stride: 2}\n"
                          "global_average:\n  f: {input: [3, 8, 9]}\n"
                          "softmax:\n  g: {size: [2, 3]}\n"
                          "layer_norm:\n  h: {size: [2, 3]}\n"
                          "add:\n  i: {size: [1, 2, 3, 4]}\n"
                          "gelu:\n  j: {size: [2, 3]}\n"));
  std::vector<std::string> texts;
  for (const OperatorShape &shape : shapes)
    texts.push_back(shape.name + " " + sizesText(shape.op));
  EXPECT_THAT(texts, ::testing::ElementsAre("a 2x3x4 gelu", "b 5 of 2x3x4", "c 3x8x9 -> 4, 1x3 stride 2 relu",
                                            "d 3x8x9 depthwise, 3x3 relu6", "e 3x8x9 maximum, 2x2 stride 2",
                                            "f 3x8x9 global average", "g 2x3 softmax", "h 2x3 layer norm",
                                            "i 1x2x3x4 add", "j 2x3 gelu"));
  EXPECT_EQ(outputShape(shapes[2].op), (Sizes{1, 4, 4, 4}));
  EXPECT_EQ(outputShape(shapes[3].op), (Sizes{1, 3, 8, 9}));
  EXPECT_EQ(flops(shapes[1].op), 2.0 * 5 * 2 * 3 * 4);
  EXPECT_EQ(flops(shapes[3].op), 2.0 * 3 * 8 * 9 * 9);
  EXPECT_EQ(bytes(shapes[0].op), 4.0 * (2 * 3 + 3 * 4 + 4 + 2 * 4));
  EXPECT_EQ(flops(shapes[8].op), 0);
}

TEST(ShapeTable, saysWhatIsWrongAndWhere) {
  EXPECT_THAT(messageOf(parseShapes("\nproducts:\n  a: {size: [1]}\n")),
              HasSubstr("line 2: unknown section 'products'"));
  EXPECT_THAT(messageOf(parseShapes("gemm:\n  a: {size: [1, 2]}\n")),
              HasSubstr("line 2: expected 3 numbers"));
  EXPECT_THAT(messageOf(parseShapes("gemm:\n  a: {}\n")), HasSubstr("expected the key 'size'"));
  EXPECT_THAT(messageOf(parseShapes("gemm:\n  a: {size: [1, 2, x]}\n")), HasSubstr("line 2: "));
  EXPECT_THAT(messageOf(parseShapes("gemm:\n  a: {size: [1, 2, 3], tial: relu}\n")),
              HasSubstr("unknown key 'tial'"));
  EXPECT_THAT(messageOf(parseShapes("gemm:\n  a: {size: [1, 2, 3], tail: tanh}\n")),
              HasSubstr("found 'tanh'"));
  EXPECT_THAT(messageOf(parseShapes("gemm:\n  a: {size: [1, 2, 3]}\n  a: {size: [1, 2, 4]}\n")),
              HasSubstr("line 3: 'a' is there twice"));
  EXPECT_THAT(messageOf(parseShapes("convolution:\n  a: {input: [1, 2, 2], kernel: 3}\n")),
              HasSubstr("expected the key 'filters'"));
  EXPECT_THAT(messageOf(parseShapes("depthwise:\n  a: {input: [1, 2, 2], kernel: 3}\n")),
              HasSubstr("the window is larger than the input"));
  EXPECT_THAT(messageOf(readShapes("/nowhere/shapes.yaml")), HasSubstr("/nowhere/shapes.yaml: "));
}

TEST(ShapeTable, ofTheBenchmarkCoversItsNetworks) {
  auto shapes = valueOf(readShapes(OPERATOR_SHAPES));
  EXPECT_GE(shapes.size(), 60u);
  std::map<std::string, int> groups;
  std::set<std::string> texts;
  for (const OperatorShape &shape : shapes) {
    ++groups[operatorGroup(shape.op)];
    EXPECT_TRUE(texts.insert(sizesText(shape.op)).second) << shape.name << ": the same sizes twice";
  }
  EXPECT_EQ(groups.size(), 3u);
  for (const char *network :
       {"resnet50", "mobilenet_v2", "bert_base", "gpt2", "whisper_base", "ocr_", "yolox"})
    EXPECT_THAT(shapes, ::testing::Contains(::testing::Field(&OperatorShape::name, HasSubstr(network))));
}

} // namespace
