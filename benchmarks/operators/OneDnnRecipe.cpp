// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "benchmarks/operators/OneDnnRecipe.h"

namespace autotune::benchmarks {
namespace {

using dnnl::algorithm;
using dnnl::memory;
using dnnl::prop_kind;
using Tag = memory::format_tag;

constexpr auto kFloat = memory::data_type::f32;
constexpr auto kInference = prop_kind::forward_inference;

memory::desc plain(const Sizes &shape) {
  static constexpr Tag tags[] = {Tag::a, Tag::ab, Tag::abc, Tag::abcd, Tag::abcde};
  return {shape, kFloat, tags[shape.size() - 1]};
}

memory::desc any(const Sizes &shape) { return {shape, kFloat, Tag::any}; }

/// Channels in blocks of one vector, as convolutions before and behind have them.
memory::desc blocked(const Sizes &shape) {
  bool wide = dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core;
  return {shape, kFloat, wide ? Tag::nChw16c : Tag::nChw8c};
}

dnnl::primitive_attr tailAttributes(Tail tail) {
  dnnl::post_ops ops;
  if (tail == Tail::Relu)
    ops.append_eltwise(1, algorithm::eltwise_relu, 0, 0);
  else if (tail == Tail::Relu6)
    ops.append_eltwise(1, algorithm::eltwise_clip, 0, 6);
  else if (tail == Tail::HardSwish)
    ops.append_eltwise(1, algorithm::eltwise_hardswish, 0, 0);
  else if (tail == Tail::Gelu)
    ops.append_eltwise(1, algorithm::eltwise_gelu_erf, 0, 0);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(ops);
  return attributes;
}

class RecipeBuilder {
public:
  RecipeBuilder(const dnnl::engine &engine, const OperatorData &data) : engine(engine), data(data) {}

  std::vector<Recipe> operator()(const Gemm &gemm) const {
    std::vector<Recipe> recipes = {matmul(gemm)};
    if (gemm.constantRight)
      recipes.push_back(innerProduct(gemm));
    return recipes;
  }

  std::vector<Recipe> operator()(const Convolution &conv) const {
    Sizes input = inputShapes(conv)[0], output = outputShape(conv), weights = conv.weightShape();
    if (conv.depthwise)
      weights = {conv.filters, 1, 1, conv.kernel[0], conv.kernel[1]};
    Sizes strides(conv.stride.begin(), conv.stride.end()), padding(conv.padding.begin(), conv.padding.end());
    bool bias = conv.tail != Tail::None;
    using Forward = dnnl::convolution_forward;
    auto how = algorithm::convolution_auto;
    Forward::desc what = bias ? Forward::desc(kInference, how, any(input), any(weights), any({conv.filters}),
                                              any(output), strides, padding, padding)
                              : Forward::desc(kInference, how, any(input), any(weights), any(output), strides,
                                              padding, padding);
    Forward::primitive_desc chosen(what, tailAttributes(conv.tail), engine);
    RecipeArgument right = constantArgument(0, DNNL_ARG_WEIGHTS, plain(weights), chosen.weights_desc());
    return {contraction<Forward>(chosen, input, right, output, bias ? Sizes{conv.filters} : Sizes())};
  }

  std::vector<Recipe> operator()(const Pooling &pool) const {
    bool average = pool.function == Pooling::Function::GlobalAverage;
    Sizes input = inputShapes(pool)[0], output = outputShape(pool);
    Sizes kernel = average ? Sizes{pool.height, pool.width} : Sizes{pool.kernel, pool.kernel};
    Sizes strides = average ? Sizes{1, 1} : Sizes{pool.stride, pool.stride}, padding(2, pool.padding);
    using Forward = dnnl::pooling_forward;
    auto how = average ? algorithm::pooling_avg_exclude_padding : algorithm::pooling_max;
    Forward::primitive_desc chosen(
        Forward::desc(kInference, how, blocked(input), any(output), strides, kernel, padding, padding),
        engine);
    return {{Forward(chosen),
             chosen.impl_info_str(),
             {inputArgument(0, DNNL_ARG_SRC, plain(input), chosen.src_desc()),
              result(output, chosen.dst_desc())}}};
  }

  std::vector<Recipe> operator()(const RowWise &rowWise) const {
    memory::desc matrix = plain({rowWise.rows, rowWise.columns});
    std::vector<RecipeArgument> arguments = {inputArgument(0, DNNL_ARG_SRC, matrix, matrix)};
    if (rowWise.function == RowWise::Function::Softmax) {
      using Forward = dnnl::softmax_forward;
      Forward::primitive_desc chosen(Forward::desc(kInference, matrix, 1), engine);
      arguments.push_back(result({rowWise.rows, rowWise.columns}, matrix));
      return {{Forward(chosen), chosen.impl_info_str(), arguments}};
    }
    using Forward = dnnl::layer_normalization_forward;
    auto flags = dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;
    Forward::primitive_desc chosen(Forward::desc(kInference, matrix, kLayerNormEpsilon, flags), engine);
    memory::desc vector = plain({rowWise.columns});
    arguments.push_back(constantArgument(0, DNNL_ARG_SCALE, vector, vector));
    arguments.push_back(constantArgument(1, DNNL_ARG_SHIFT, vector, vector));
    arguments.push_back(result({rowWise.rows, rowWise.columns}, matrix));
    return {{Forward(chosen), chosen.impl_info_str(), arguments}};
  }

  std::vector<Recipe> operator()(const Elementwise &elementwise) const {
    memory::desc tensor = plain(elementwise.shape);
    std::vector<RecipeArgument> arguments = {inputArgument(0, DNNL_ARG_SRC, tensor, tensor)};
    if (elementwise.function == Elementwise::Function::Gelu) {
      using Forward = dnnl::eltwise_forward;
      Forward::primitive_desc chosen(Forward::desc(kInference, algorithm::eltwise_gelu_erf, tensor, 0, 0),
                                     engine);
      arguments.push_back(result(elementwise.shape, tensor));
      return {{Forward(chosen), chosen.impl_info_str(), arguments}};
    }
    dnnl::binary::primitive_desc chosen(dnnl::binary::desc(algorithm::binary_add, tensor, tensor, tensor),
                                        engine);
    arguments.push_back(inputArgument(1, DNNL_ARG_SRC_1, tensor, tensor));
    arguments.push_back(result(elementwise.shape, tensor));
    return {{dnnl::binary(chosen), chosen.impl_info_str(), arguments}};
  }

private:
  Recipe matmul(const Gemm &gemm) const {
    Sizes left = inputShapes(gemm)[0], output = outputShape(gemm);
    Sizes right = gemm.constantRight ? constantShapes(gemm)[0] : inputShapes(gemm)[1];
    Sizes bias = gemm.tail == Tail::None ? Sizes() : Sizes(output.size(), 1);
    if (!bias.empty())
      bias.back() = gemm.columns;
    memory::desc weights = gemm.constantRight ? any(right) : plain(right);
    using Forward = dnnl::matmul;
    Forward::desc what = bias.empty() ? Forward::desc(plain(left), weights, plain(output))
                                      : Forward::desc(plain(left), weights, plain(bias), plain(output));
    Forward::primitive_desc chosen(what, tailAttributes(gemm.tail), engine);
    return contraction<Forward>(
        chosen, left,
        gemm.constantRight ? constantArgument(0, DNNL_ARG_WEIGHTS, plain(right), chosen.weights_desc())
                           : inputArgument(1, DNNL_ARG_WEIGHTS, plain(right), chosen.weights_desc()),
        output, bias);
  }

  Recipe innerProduct(const Gemm &gemm) const {
    Sizes left = inputShapes(gemm)[0], output = outputShape(gemm), weights = {gemm.columns, gemm.inner};
    Sizes bias = gemm.tail == Tail::None ? Sizes() : Sizes{gemm.columns};
    using Forward = dnnl::inner_product_forward;
    Forward::desc what = bias.empty()
                             ? Forward::desc(kInference, any(left), any(weights), any(output))
                             : Forward::desc(kInference, any(left), any(weights), any(bias), any(output));
    Forward::primitive_desc chosen(what, tailAttributes(gemm.tail), engine);
    memory::desc given(weights, kFloat, Tag::ba);
    return contraction<Forward>(
        chosen, left, constantArgument(0, DNNL_ARG_WEIGHTS, given, chosen.weights_desc()), output, bias);
  }

  /// `bias` is empty if there is none.
  template <typename Forward>
  Recipe contraction(const typename Forward::primitive_desc &chosen, const Sizes &left,
                     const RecipeArgument &right, const Sizes &output, const Sizes &bias) const {
    std::vector<RecipeArgument> arguments = {inputArgument(0, DNNL_ARG_SRC, plain(left), chosen.src_desc()),
                                             right};
    if (!bias.empty())
      arguments.push_back(constantArgument(1, DNNL_ARG_BIAS, plain(bias), chosen.bias_desc()));
    arguments.push_back(result(output, chosen.dst_desc()));
    return {Forward(chosen), chosen.impl_info_str(), std::move(arguments)};
  }

  RecipeArgument inputArgument(size_t index, int argument, const memory::desc &given,
                               const memory::desc &wanted) const {
    return {argument, given, wanted, &data.inputs[index], false};
  }
  RecipeArgument constantArgument(size_t index, int argument, const memory::desc &given,
                                  const memory::desc &wanted) const {
    return {argument, given, wanted, &data.constants[index], true};
  }
  static RecipeArgument result(const Sizes &shape, const memory::desc &wanted) {
    return {DNNL_ARG_DST, plain(shape), wanted, nullptr, false};
  }

  const dnnl::engine &engine;
  const OperatorData &data;
};

} // namespace

std::vector<Recipe> oneDnnRecipes(const dnnl::engine &engine, const Operator &op, const OperatorData &data) {
  return std::visit(RecipeBuilder(engine, data), op);
}

} // namespace autotune::benchmarks
