// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models whose operands are all known.
#include "test/unit/frontend/KnownModel.h"

#include "frontend/Import.h"
#include "frontend/ImportContext.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include <gtest/gtest.h>

#include <unistd.h>

namespace autotune::test {

KnownModel &KnownModel::tensor(const std::string &name, const Numbers &numbers) {
  auto *proto = model.mutable_graph()->add_initializer();
  proto->set_name(name);
  proto->set_data_type(onnxDataType(numbers.type));
  for (int64_t dim : numbers.shape)
    proto->add_dims(dim);
  std::string *raw = proto->mutable_raw_data();
  for (double value : numbers.values) {
    char bytes[8];
    if (isFloat(numbers.type))
      storeFloat(bytes, numbers.type, value);
    else
      storeInt(bytes, numbers.type, static_cast<int64_t>(value));
    raw->append(bytes, byteSize(numbers.type));
  }
  return *this;
}

KnownModel &KnownModel::microsoft(const std::string &op, const std::vector<std::string> &inputs,
                                  const std::vector<std::string> &outputs) {
  node(op, inputs, outputs);
  auto *graph = model.mutable_graph();
  graph->mutable_node(graph->node_size() - 1)->set_domain("com.microsoft");
  if (model.opset_import_size() == 1) {
    auto *opset = model.add_opset_import();
    opset->set_domain("com.microsoft");
    opset->set_version(1);
  }
  return *this;
}

namespace {

Numbers toNumbers(mlir::Value value, mlir::func::FuncOp function, unsigned index) {
  Numbers numbers;
  auto constant = value.getDefiningOp<mlir::arith::ConstantOp>();
  auto elements = constant ? mlir::dyn_cast<mlir::DenseElementsAttr>(constant.getValue()) : nullptr;
  if (!elements) {
    ADD_FAILURE() << "output " << index << " is not known at import";
    return numbers;
  }
  auto type = mlir::cast<mlir::RankedTensorType>(elements.getType());
  numbers.type = fromMlirType(type.getElementType());
  if (auto name = function.getResultAttrOfType<mlir::StringAttr>(index, "autotune.dtype"))
    numbers.type = elementTypeFromSpelling(name.getValue()).value();
  numbers.shape.assign(type.getShape().begin(), type.getShape().end());
  if (isFloat(numbers.type)) {
    for (llvm::APFloat element : elements.getValues<llvm::APFloat>()) {
      bool losesInfo;
      element.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
      numbers.values.push_back(element.convertToDouble());
    }
    return numbers;
  }
  for (llvm::APInt element : elements.getValues<llvm::APInt>())
    numbers.values.push_back(isUnsigned(numbers.type) ? static_cast<double>(element.getZExtValue())
                                                      : static_cast<double>(element.getSExtValue()));
  return numbers;
}

} // namespace

std::vector<Numbers> KnownModel::evaluate() const {
  std::string path = writeTemporary("known.onnx", serialized());
  mlir::DialectRegistry registry;
  registerFrontendDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = importModel(context, path, {});
  unlink(path.c_str());
  if (!module) {
    ADD_FAILURE() << llvm::toString(module.takeError());
    return {};
  }
  auto function = (*module)->lookupSymbol<mlir::func::FuncOp>("main");
  std::vector<Numbers> outputs;
  for (auto [index, value] : llvm::enumerate(function.getBody().front().getTerminator()->getOperands()))
    outputs.push_back(toNumbers(value, function, index));
  return outputs;
}

Numbers KnownModel::result() const {
  std::vector<Numbers> outputs = evaluate();
  return outputs.empty() ? Numbers() : outputs.front();
}

std::vector<double> scattered(size_t count, int64_t low, int64_t high, uint64_t seed) {
  std::vector<double> values;
  uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (size_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    values.push_back(
        static_cast<double>(low + static_cast<int64_t>((state >> 33) % uint64_t(high - low + 1))));
  }
  return values;
}

std::vector<double> fractions(size_t count, uint64_t seed) {
  std::vector<double> values = scattered(count, -128, 128, seed);
  for (double &value : values)
    value /= 64;
  return values;
}

double roundedTo(ElementType type, double value) {
  char bytes[8];
  storeFloat(bytes, type, value);
  return loadFloat(bytes, type);
}

} // namespace autotune::test
