// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many ideas whole models hold.
#include "frontend/Import.h"
#include "test/unit/frontend/Recognition.h"

#include "llvm/Support/FileSystem.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace autotune::test;

namespace {

/// A transformer of small layers with random weights, as exporters without LayerNormalization and Gelu write
/// it.
class Transformer {
public:
  Transformer() : model(13) { model.input("x0", {1, kRows, kWidth}); }

  TestModel model;

  std::string block(const std::string &x) {
    std::string attended = norm(add(x, attention(x)));
    return norm(add(attended, linear(gelu(linear(attended, kWidth, 2 * kWidth)), 2 * kWidth, kWidth)));
  }

private:
  static constexpr int64_t kRows = 4, kWidth = 8, kHeads = 2;

  std::string fresh() { return "t" + std::to_string(++count); }

  std::string op(const std::string &type, const std::vector<std::string> &inputs) {
    std::string name = fresh();
    model.node(type, inputs, {name});
    return name;
  }

  std::string constant(const std::vector<int64_t> &dims, float scale, float offset = 0) {
    int64_t size = 1;
    for (int64_t dim : dims)
      size *= dim;
    std::vector<float> values;
    for (int64_t i = 0; i < size; ++i)
      values.push_back(offset + scale * std::sin(static_cast<float>(++seed)));
    std::string name = fresh();
    model.floats(name, dims, values);
    return name;
  }

  std::string add(const std::string &a, const std::string &b) { return op("Add", {a, b}); }

  std::string linear(const std::string &x, int64_t from, int64_t to) {
    return add(op("MatMul", {x, constant({from, to}, 0.3f)}), constant({to}, 0.1f));
  }

  std::string mean(const std::string &x) {
    std::string name = op("ReduceMean", {x});
    model.integers("axes", {-1});
    return name;
  }

  std::string norm(const std::string &x) {
    std::string centered = op("Sub", {x, mean(x)});
    std::string variance = mean(op("Pow", {centered, constant({}, 0, 2)}));
    std::string root = op("Sqrt", {add(variance, constant({}, 0, 1e-5f))});
    return add(op("Mul", {op("Div", {centered, root}), constant({kWidth}, 0.1f, 1)}),
               constant({kWidth}, 0.1f));
  }

  std::string gelu(const std::string &x) {
    std::string curve = op("Erf", {op("Div", {x, constant({}, 0, std::sqrt(2.0f))})});
    return op("Mul", {op("Mul", {x, add(curve, constant({}, 0, 1))}), constant({}, 0, 0.5f)});
  }

  std::string heads(const std::string &x, const std::vector<int64_t> &permutation) {
    std::string shape = fresh();
    model.ints(shape, {4}, {1, kRows, kHeads, kWidth / kHeads});
    std::string name = op("Transpose", {op("Reshape", {x, shape})});
    model.integers("perm", permutation);
    return name;
  }

  std::string attention(const std::string &x) {
    std::string query = heads(linear(x, kWidth, kWidth), {0, 2, 1, 3});
    std::string key = heads(linear(x, kWidth, kWidth), {0, 2, 3, 1});
    std::string value = heads(linear(x, kWidth, kWidth), {0, 2, 1, 3});
    std::string weights = op("Softmax", {op("Mul", {op("MatMul", {query, key}), constant({}, 0, 0.5f)})});
    model.attribute("axis", int64_t(-1));
    std::string result = op("Transpose", {op("MatMul", {weights, value})}), shape = fresh();
    model.integers("perm", {0, 2, 1, 3}).ints(shape, {3}, {1, kRows, kWidth});
    return linear(op("Reshape", {result, shape}), kWidth, kWidth);
  }

  int count = 0, seed = 0;
};

/// The counts of a model file in a folder of models, or nothing when it is not there.
std::optional<std::string> ideasOf(const std::string &folder, const Shapes &shapes) {
  std::string path = folder + "/model.onnx";
  if (!llvm::sys::fs::exists(path))
    return std::nullopt;
  autotune::ImportOptions options;
  for (const auto &[name, shape] : shapes)
    options.inputShapes[name] = shape;
  mlir::DialectRegistry registry;
  autotune::registerFrontendDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = autotune::importModel(context, path, options);
  return module ? ideaCounts(**module) : llvm::toString(module.takeError());
}

struct Expected {
  std::string model, ideas;
  Shapes shapes;
};

class RealModel : public testing::TestWithParam<Expected> {};

} // namespace

TEST(RecognisedModels, TransformerIsAttentionGeluAndLayerNorm) {
  Transformer transformer;
  std::string x = "x0";
  for (int layer = 0; layer < 2; ++layer)
    x = transformer.block(x);
  transformer.model.output(x);
  expectIdea(transformer.model, "attention 2, gelu 2, layer_norm 4", 1e-5);
}

TEST(RecognisedModels, TextDirectionClassifier) {
  EXPECT_EQ(ideasOf(AUTOTUNE_BUNDLED_MODELS "/ppocr_v2_cls", {{"x", {1, 3, 48, 192}}}), "hard_swish 18");
}

TEST_P(RealModel, HoldsItsIdeas) {
  std::optional<std::string> found = ideasOf(AUTOTUNE_REAL_MODELS "/" + GetParam().model, GetParam().shapes);
  if (!found)
    GTEST_SKIP() << AUTOTUNE_REAL_MODELS " holds no " << GetParam().model;
  EXPECT_EQ(*found, GetParam().ideas);
}

INSTANTIATE_TEST_SUITE_P(RecognisedModels, RealModel,
                         testing::Values(Expected{"libtashkeel_fp32",
                                                  "attention 6, layer_norm 14",
                                                  {{"char_inputs", {1, 64}}, {"input_lengths", {1}}}},
                                         Expected{"magika_standard_v3_3",
                                                  "gelu 2, layer_norm 2, softmax 1",
                                                  {{"bytes", {1, 2048}}}},
                                         Expected{"ppocr_v4_det", "hard_swish 24", {{"x", {1, 3, 640, 640}}}},
                                         Expected{"yolox_nano", "silu 104", {{"images", {1, 3, 416, 416}}}}),
                         [](const testing::TestParamInfo<Expected> &info) { return info.param.model; });
