// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Workloads say what a kernel computes, and nothing of names, constants or the place in the model.
#include "passes/ExtractWorkload.h"
#include "test/unit/KernelContext.h"
#include "test/unit/Results.h"

#include <gmock/gmock.h>

using namespace autotune;
using namespace autotune::test;
using testing::ElementsAre;

namespace {

/// A 3x3 convolution, stride 2, in blocks of eight, with a tail, into the interior of a padded buffer.
constexpr const char *kConvolution = R"(
#tail = affine_map<(n, h, w, o, v) -> (n, o, h, w, v)>
func.func @NAME(%x: tensor<1x2x9x9x8xf32>, %w: tensor<3x2x3x3x8x8xf32>, %dest: tensor<1x3x6x7x8xf32>) -> tensor<1x3x6x7x8xf32> {
  %zero = arith.constant 0.0 : f32
  %part = tensor.extract_slice %dest[0, 0, 1, 2, 0] [1, 3, 4, 4, 8] [1, 1, 1, 1, 1] : tensor<1x3x6x7x8xf32> to tensor<1x3x4x4x8xf32>
  %e = tensor.empty() : tensor<1x3x4x4x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x4x4x8xf32>) -> tensor<1x3x4x4x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(n, h, w, o, v, i, kh, kw, c) -> (n, i, h * 2 + kh, w * 2 + kw, c)>,
                                        affine_map<(n, h, w, o, v, i, kh, kw, c) -> (o, i, kh, kw, c, v)>,
                                        affine_map<(n, h, w, o, v, i, kh, kw, c) -> (n, o, h, w, v)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]}
         ins(%x, %w : tensor<1x2x9x9x8xf32>, tensor<3x2x3x3x8x8xf32>) outs(%f : tensor<1x3x4x4x8xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x3x4x4x8xf32> loc("LABEL")
  %z = linalg.generic {indexing_maps = [#tail, #tail], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
         ins(%y : tensor<1x3x4x4x8xf32>) outs(%part : tensor<1x3x4x4x8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %m = arith.maximumf %p, %zero : f32
    %n = arith.negf %m : f32
    linalg.yield %n : f32
  } -> tensor<1x3x4x4x8xf32>
  %r = tensor.insert_slice %z into %dest[0, 0, 1, 2, 0] [1, 3, 4, 4, 8] [1, 1, 1, 1, 1] : tensor<1x3x4x4x8xf32> into tensor<1x3x6x7x8xf32>
  return %r : tensor<1x3x6x7x8xf32>
}
)";

constexpr const char *kBorder = R"(
func.func @border(%dest: tensor<6xf32>) -> tensor<6xf32> {
  %zero = arith.constant 0.0 : f32
  %part = tensor.extract_slice %dest[0] [1] [1] : tensor<6xf32> to tensor<1xf32>
  %f = linalg.fill ins(%zero : f32) outs(%part : tensor<1xf32>) -> tensor<1xf32>
  %r = tensor.insert_slice %f into %dest[0] [1] [1] : tensor<1xf32> into tensor<6xf32>
  return %r : tensor<6xf32>
}
)";

std::string convolution(const std::string &name, const std::string &label) {
  std::string text = kConvolution;
  text.replace(text.find("NAME"), 4, name);
  text.replace(text.find("LABEL"), 5, label);
  return text;
}

class ExtractWorkloadTest : public testing::Test {
protected:
  mlir::func::FuncOp kernel(const std::string &text) {
    modules.push_back(parseModule(*context, text));
    return *modules.back()->getOps<mlir::func::FuncOp>().begin();
  }
  std::optional<Workload> workload(mlir::func::FuncOp kernel, int threads = 1) {
    const bool constants[] = {false, true, false};
    return extractWorkload(kernel, kernelText(kernel), {constants, threads, Numerics::Default});
  }

  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
};

} // namespace

TEST_F(ExtractWorkloadTest, SaysWhatAConvolutionIs) {
  Workload w = workload(kernel(convolution("a", "conv1"))).value();
  EXPECT_EQ(w.kind, "conv");
  EXPECT_EQ(w.opClass, OpClass::Contraction);
  EXPECT_THAT(w.dims, ElementsAre(LoopDim{1, false}, LoopDim{4, false}, LoopDim{4, false}, LoopDim{3, false},
                                  LoopDim{8, false}, LoopDim{2, true}, LoopDim{3, true}, LoopDim{3, true},
                                  LoopDim{8, true}));
  EXPECT_THAT(w.epilogue, ElementsAre("arith.maximumf", "arith.negf"));
  ASSERT_EQ(w.inputs.size(), 2u);
  EXPECT_FALSE(w.inputs[0].constant);
  EXPECT_TRUE(w.inputs[1].constant);
  EXPECT_THAT(w.inputs[0].index[2], ElementsAre(IndexTerm{1, 2}, IndexTerm{6, 1}));
}

TEST_F(ExtractWorkloadTest, KnowsTheHaloOfTheDestination) {
  Workload w = workload(kernel(convolution("a", "conv1"))).value();
  EXPECT_THAT(w.output.shape, ElementsAre(1, 3, 6, 7, 8));
  EXPECT_THAT(w.output.offsets, ElementsAre(0, 0, 1, 2, 0));
}

TEST_F(ExtractWorkloadTest, RoundTripsThroughText) {
  Workload w = workload(kernel(convolution("a", "conv1"))).value();
  EXPECT_EQ(valueOf(Workload::parse(w.text())), w);
  EXPECT_EQ(valueOf(Workload::parse(w.text())).key(), w.key());
}

TEST_F(ExtractWorkloadTest, NamesAndLabelsAreNoPartOfIt) {
  mlir::func::FuncOp a = kernel(convolution("a", "conv1")), b = kernel(convolution("b", "conv2"));
  EXPECT_EQ(kernelText(a), kernelText(b));
  EXPECT_EQ(workload(a)->key(), workload(b)->key());
  EXPECT_EQ(kernelText(a).find("conv1"), std::string::npos);
}

TEST_F(ExtractWorkloadTest, BodiesAndThreadsAre) {
  std::string other = convolution("a", "conv1");
  other.replace(other.find("arith.negf"), 10, "math.absf ");
  mlir::func::FuncOp a = kernel(convolution("a", "conv1")), b = kernel(other);
  EXPECT_NE(workload(a)->body, workload(b)->body);
  EXPECT_NE(workload(a)->key(), workload(a, 2)->key());
}

TEST_F(ExtractWorkloadTest, KernelTextParsesToTheSameText) {
  mlir::func::FuncOp a = kernel(convolution("a", "conv1"));
  EXPECT_EQ(kernelText(kernel(kernelText(a))), kernelText(a));
}

TEST_F(ExtractWorkloadTest, ABorderHasNothingToChoose) {
  EXPECT_FALSE(workload(kernel(kBorder)).has_value());
}
