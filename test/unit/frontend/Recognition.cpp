// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/unit/frontend/Recognition.h"

#include "frontend/ConstantEvaluator.h"
#include "frontend/Import.h"
#include "frontend/TensorProto.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <unistd.h>

namespace autotune::test {

namespace {

ConstantTensor randomTensor(const onnx::TypeProto::Tensor &type, unsigned seed) {
  ElementType element = *elementTypeFromOnnx(type.elem_type());
  Shape shape;
  for (const auto &dim : type.shape().dim())
    shape.push_back(dim.dim_value());
  std::mt19937 random(seed);
  std::vector<char> bytes(elementCount(shape) * byteSize(element));
  for (size_t i = 0; i < bytes.size(); i += byteSize(element)) {
    // Distributions differ between libraries, the generator does not.
    double number = static_cast<double>(random() % 6001) / 1000 - 3;
    if (isFloat(element))
      storeFloat(bytes.data() + i, element, number);
    else
      storeInt(bytes.data() + i, element, number > 0);
  }
  return ConstantTensor::own(element, shape, std::move(bytes));
}

/// The model with its inputs as initialisers.
onnx::ModelProto withoutInputs(const onnx::ModelProto &model, llvm::ArrayRef<ConstantTensor> values) {
  onnx::ModelProto fixed = model;
  for (int i = 0; i < model.graph().input_size(); ++i) {
    onnx::TensorProto &tensor = *fixed.mutable_graph()->add_initializer();
    tensor.set_name(model.graph().input(i).name());
    tensor.set_data_type(model.graph().input(i).type().tensor_type().elem_type());
    for (int64_t dim : values[i].shape())
      tensor.add_dims(dim);
    tensor.set_raw_data(std::string(values[i].rawData().data(), values[i].rawData().size()));
  }
  fixed.mutable_graph()->clear_input();
  return fixed;
}

struct Evaluated {
  std::vector<ConstantTensor> results;
  std::string text, ideas, problem;
};

Evaluated evaluated(mlir::MLIRContext &context, const onnx::ModelProto &model,
                    llvm::ArrayRef<ConstantTensor> arguments) {
  Evaluated result;
  std::string path = writeTemporary("pattern.onnx", model.SerializeAsString());
  auto module = importModel(context, path, {});
  unlink(path.c_str());
  if (!module) {
    result.problem = llvm::toString(module.takeError());
    return result;
  }
  llvm::raw_string_ostream(result.text) << **module;
  result.ideas = ideaCounts(**module);
  auto values = evaluateFunction((*module)->lookupSymbol<mlir::func::FuncOp>("main"), arguments);
  if (values)
    result.results = std::move(*values);
  else
    result.problem = "cannot be evaluated:\n" + result.text;
  return result;
}

} // namespace

std::string ideaCounts(mlir::ModuleOp module) {
  std::string text;
  if (auto counts = module->getAttrOfType<mlir::DictionaryAttr>("autotune.ideas"))
    for (mlir::NamedAttribute entry : counts)
      text += (text.empty() ? "" : ", ") + entry.getName().str() + " " +
              std::to_string(mlir::cast<mlir::IntegerAttr>(entry.getValue()).getInt());
  return text;
}

Recognition recognition(const TestModel &model) {
  std::vector<ConstantTensor> arguments;
  for (const onnx::ValueInfoProto &input : model.model.graph().input())
    arguments.push_back(randomTensor(input.type().tensor_type(), arguments.size() + 1));
  mlir::DialectRegistry registry;
  registerFrontendDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  Evaluated whole = evaluated(context, model.model, arguments);
  Evaluated pieces = evaluated(context, withoutInputs(model.model, arguments), {});
  Recognition found{whole.ideas, 0, whole.text, whole.problem + pieces.problem};
  if (!pieces.ideas.empty())
    found.problem += "ideas among constants: " + pieces.ideas;
  double scale = 1;
  for (const auto &[a, b] : llvm::zip(whole.results, pieces.results)) {
    if (a.shape() != b.shape() || a.type() != b.type())
      found.problem += "results of different shapes or types";
    for (int64_t i = 0, e = std::min(a.size(), b.size()); i < e; ++i) {
      double x = a.floatAt(i), y = b.floatAt(i);
      if (std::isnan(x) != std::isnan(y))
        found.problem += "one result is NaN";
      scale = std::max(scale, std::abs(y));
      found.error = std::max(found.error, std::isnan(x) ? 0 : std::abs(x - y));
    }
  }
  found.error /= scale;
  return found;
}

void expectIdea(const TestModel &model, const std::string &ideas, double tolerance) {
  Recognition found = recognition(model);
  EXPECT_EQ(found.problem, "");
  EXPECT_EQ(found.ideas, ideas) << found.text;
  EXPECT_LE(found.error, tolerance) << found.text;
}

void expectNone(const TestModel &model) { expectIdea(model, ""); }

} // namespace autotune::test
