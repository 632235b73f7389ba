// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Imports a model and reads the constants that it returns.
#include "test/unit/frontend/Evaluate.h"

#include "frontend/ConstantTensor.h"
#include "frontend/Import.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <gtest/gtest.h>

#include <unistd.h>

namespace autotune::test {

void addTensor(TestModel &model, const std::string &name, ElementType type, const std::vector<int64_t> &dims,
               const std::vector<double> &values) {
  auto *tensor = model.model.mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(onnxDataType(type));
  for (int64_t dim : dims)
    tensor->add_dims(dim);
  std::string bytes(values.size() * byteSize(type), '\0');
  for (size_t i = 0; i < values.size(); ++i) {
    char *at = bytes.data() + i * byteSize(type);
    if (isFloat(type))
      storeFloat(at, type, values[i]);
    else
      storeInt(at, type, static_cast<int64_t>(values[i]));
  }
  tensor->set_raw_data(bytes);
}

namespace {

ElementType elementTypeOf(mlir::func::FuncOp main, unsigned result, mlir::Type type) {
  // Signless integers carry their sign in an attribute.
  if (auto dtype = main.getResultAttrOfType<mlir::StringAttr>(result, "autotune.dtype"))
    return *elementTypeFromSpelling(dtype.getValue());
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return *elementTypeFromSpelling(text);
}

Tensor toTensor(ElementType type, mlir::DenseElementsAttr attribute) {
  Tensor tensor;
  tensor.type = type;
  tensor.shape = attribute.getType().getShape().vec();
  if (isFloat(type)) {
    for (llvm::APFloat value : attribute.getValues<llvm::APFloat>()) {
      bool losesInfo;
      value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
      tensor.values.push_back(value.convertToDouble());
    }
    return tensor;
  }
  for (const llvm::APInt &value : attribute.getValues<llvm::APInt>())
    tensor.values.push_back(isUnsigned(type) ? static_cast<double>(value.getZExtValue())
                                             : static_cast<double>(value.getSExtValue()));
  return tensor;
}

} // namespace

std::vector<Tensor> evaluated(const TestModel &model) {
  std::string path = writeTemporary("known.onnx", model.serialized());
  mlir::DialectRegistry registry;
  registerFrontendDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = importModel(context, path, {});
  unlink(path.c_str());
  if (!module) {
    ADD_FAILURE() << llvm::toString(module.takeError());
    return {};
  }
  auto main = (*module)->lookupSymbol<mlir::func::FuncOp>("main");
  std::vector<Tensor> results;
  for (auto [index, value] : llvm::enumerate(main.getBody().front().getTerminator()->getOperands())) {
    auto constant = value.getDefiningOp<mlir::arith::ConstantOp>();
    if (!constant) {
      ADD_FAILURE() << "result " << index << " is not known at import";
      return {};
    }
    auto attribute = mlir::cast<mlir::DenseElementsAttr>(constant.getValue());
    results.push_back(toTensor(elementTypeOf(main, index, attribute.getElementType()), attribute));
  }
  return results;
}

Tensor evaluatedOne(const TestModel &model) {
  std::vector<Tensor> results = evaluated(model);
  EXPECT_EQ(results.size(), 1u);
  return results.empty() ? Tensor() : results[0];
}

std::vector<double> someNumbers(size_t count, int seed) {
  std::vector<double> values;
  unsigned state = seed * 2654435761u + 12345u;
  for (size_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    values.push_back((static_cast<int>(state >> 20) % 33 - 16) / 8.0); // exact in every float type
  }
  return values;
}

} // namespace autotune::test
