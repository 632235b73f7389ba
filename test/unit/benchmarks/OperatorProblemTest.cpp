// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small operators of every kind: both sides of the benchmark compute what the operator is defined to be.
#include "benchmarks/KernelContext.h"
#include "benchmarks/ProblemCompiler.h"
#include "benchmarks/TemporaryFolder.h"
#include "benchmarks/operators/OneDnn.h"
#include "test/unit/Results.h"
#include "test/unit/benchmarks/OperatorReference.h"

#include <gmock/gmock.h>

using namespace autotune;
using namespace autotune::benchmarks;
using namespace autotune::test;

namespace autotune::benchmarks {

static void PrintTo(const OperatorShape &shape, std::ostream *stream) { *stream << sizesText(shape.op); }

} // namespace autotune::benchmarks

namespace {

std::vector<OperatorShape> smallOperators() {
  Convolution strided{16, 9, 7, 24, {3, 3}, {2, 1}, {1, 1}};
  strided.tail = Tail::HardSwish;
  Convolution stem{3, 12, 12, 16, {3, 3}, {2, 2}, {1, 1}};
  stem.tail = Tail::Relu6;
  Convolution narrow{8, 1, 30, 16, {1, 3}, {1, 1}, {0, 1}};
  narrow.tail = Tail::Gelu;
  Convolution plain{32, 5, 5, 16};
  plain.tail = Tail::None;
  return {
      {"product", Gemm{1, 5, 7, 16}},
      {"product_with_odd_columns", Gemm{1, 3, 8, 13, true, Tail::Gelu}},
      {"vector_product", Gemm{1, 1, 24, 32, true, Tail::Bias}},
      {"batch_product", Gemm{3, 5, 8, 6, /*constantRight=*/false}},
      {"strided_convolution", strided},
      {"stem", stem},
      {"narrow_convolution", narrow},
      {"pointwise_convolution", plain},
      {"square_convolution", Convolution{32, 10, 10, 32, {3, 3}, {1, 1}, {1, 1}}},
      {"depthwise_convolution", Convolution{16, 8, 8, 16, {5, 5}, {1, 1}, {2, 2}, /*depthwise=*/true}},
      {"max_pool", Pooling{Pooling::Function::Maximum, 16, 9, 9, 3, 2, 1}},
      {"global_average", Pooling{Pooling::Function::GlobalAverage, 16, 7, 7}},
      {"softmax", RowWise{RowWise::Function::Softmax, 4, 19}},
      {"layer_norm", RowWise{RowWise::Function::LayerNorm, 4, 24}},
      {"add", Elementwise{Elementwise::Function::Add, {1, 8, 5, 5}}},
      {"gelu", Elementwise{Elementwise::Function::Gelu, {3, 17}}},
  };
}

class SmallOperator : public ::testing::TestWithParam<OperatorShape> {
protected:
  void expectReference(TimedOperator &side) {
    side.run();
    std::vector<double> expected = referenceResult(GetParam().op, data);
    std::vector<float> found = side.output();
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i)
      ASSERT_NEAR(found[i], expected[i], 1e-5) << "at " << i;
  }

  OperatorData data = makeData(GetParam().op, 3);
};

TEST_P(SmallOperator, isComputedByItsCompiledProblem) {
  mlir::MLIRContext context;
  loadKernelDialects(context);
  TemporaryFolder folder;
  ASSERT_EQ(messageOf(folder.create("operator_problem")), "");
  Device device = valueOf(detectDevice());
  int vector = device.vectorBytes() / int(sizeof(float));
  for (auto [block, algorithm] : {std::pair(0, "direct"), {vector, "direct"}, {vector, "winograd2"}}) {
    Problem problem{GetParam().name, {{GetParam().op, data}}, device, block, /*threads=*/1, algorithm};
    auto compiler = valueOf(ProblemCompiler::create(context, problem));
    ASSERT_TRUE(compiler);
    std::vector<Schedules> choices = compiler->choices(2);
    ASSERT_THAT(choices, ::testing::Not(::testing::IsEmpty()));
    std::string file = folder.name() + "/" + std::to_string(block) + algorithm + ".so";
    auto program = valueOf(compiler->compile(choices.back(), file));
    ASSERT_TRUE(program);
    expectReference(*program);
  }
}

TEST_P(SmallOperator, isComputedByThePeer) {
  if (!oneDnnVersion())
    GTEST_SKIP() << "built without oneDNN (libdnnl-dev)";
  auto peer = valueOf(makeOneDnnOperator(GetParam().op, data, 1));
  ASSERT_TRUE(peer);
  EXPECT_NE(peer->implementation(), "");
  expectReference(*peer);
}

INSTANTIATE_TEST_SUITE_P(All, SmallOperator, ::testing::ValuesIn(smallOperators()),
                         [](const auto &info) { return info.param.name; });

TEST(OperatorProblem, chainsLayers) {
  Gemm first{1, 4, 8, 16, true, Tail::Relu}, second{1, 4, 16, 8};
  OperatorData firstData = makeData(first, 0), secondData = makeData(second, 1);
  mlir::MLIRContext context;
  loadKernelDialects(context);
  TemporaryFolder folder;
  ASSERT_EQ(messageOf(folder.create("operator_problem")), "");
  auto compiler = valueOf(ProblemCompiler::create(
      context, {"chain", {{first, firstData}, {second, secondData}}, valueOf(detectDevice())}));
  ASSERT_TRUE(compiler);
  auto program = valueOf(compiler->compile(compiler->choices(1).front(), folder.name() + "/chain.so"));
  ASSERT_TRUE(program);
  program->run();
  std::vector<double> between = referenceResult(first, firstData);
  secondData.inputs = {std::vector<float>(between.begin(), between.end())};
  std::vector<double> expected = referenceResult(second, secondData);
  EXPECT_THAT(program->output(), ::testing::Pointwise(::testing::FloatNear(1e-5f), expected));
}

} // namespace
