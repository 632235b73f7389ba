// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every operator with every element type that ONNX allows it: folded at import and compiled, against one
// formula.
#include "test/unit/driver/OperatorTypes.h"

#include "tools/CompileModel.h"
#include "tools/RunModel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <unistd.h>

using namespace autotune;
using namespace autotune::test;

namespace {

/// All rows of the table for one type as one model: operands are inputs, or known when `known`.
struct TypedModel {
  KnownModel model{18};
  std::vector<const TypedCase *> cases;
  std::vector<HostTensor> inputs;
};

HostTensor toHost(const std::string &name, const Numbers &numbers) {
  HostTensor tensor{name, spelling(numbers.type).str(), numbers.shape, {}};
  for (double value : numbers.values) {
    char bytes[8];
    if (isFloat(numbers.type))
      storeFloat(bytes, numbers.type, value);
    else
      storeInt(bytes, numbers.type, static_cast<int64_t>(value));
    tensor.bytes.insert(tensor.bytes.end(), bytes, bytes + byteSize(numbers.type));
  }
  return tensor;
}

Numbers fromHost(const HostTensor &tensor) {
  ElementType type = elementTypeFromSpelling(tensor.dtype).value();
  Numbers numbers{type, tensor.shape, {}};
  for (size_t i = 0; i < tensor.bytes.size(); i += byteSize(type)) {
    const char *bytes = tensor.bytes.data() + i;
    if (isFloat(type))
      numbers.values.push_back(loadFloat(bytes, type));
    else if (type == ElementType::U64)
      numbers.values.push_back(static_cast<double>(static_cast<uint64_t>(loadInt(bytes, type))));
    else
      numbers.values.push_back(static_cast<double>(loadInt(bytes, type)));
  }
  return numbers;
}

TypedModel modelOf(const std::vector<TypedCase> &cases, ElementType type, bool known) {
  TypedModel typed;
  size_t number = 0;
  for (const TypedCase &row : cases) {
    std::string prefix = "n" + std::to_string(number++) + "_";
    std::vector<std::string> names;
    for (size_t i = 0; i < row.operands.size(); ++i) {
      const TypedOperand &operand = row.operands[i];
      std::string name = prefix + std::to_string(i);
      names.push_back(name);
      if (known || operand.isParameter) {
        typed.model.tensor(name, operand.numbers);
        continue;
      }
      std::vector<Dim> dims(operand.numbers.shape.begin(), operand.numbers.shape.end());
      typed.model.input(name, dims, onnxDataType(operand.numbers.type));
      typed.inputs.push_back(toHost(name, operand.numbers));
    }
    typed.model.node(row.op, names, {prefix + "y"}).output(prefix + "y");
    auto *graph = typed.model.model.mutable_graph();
    graph->mutable_node(graph->node_size() - 1)->set_name(row.op + "_" + spelling(type).str());
    if (row.attributes)
      row.attributes(typed.model);
    typed.cases.push_back(&row);
  }
  return typed;
}

void expectEqual(const TypedCase &row, ElementType type, const Numbers &found, const char *how) {
  std::string label = row.op + " of " + spelling(type).str() + ", " + how;
  EXPECT_EQ(spelling(found.type), spelling(row.expected.type)) << label;
  ASSERT_EQ(found.shape, row.expected.shape) << label;
  ASSERT_EQ(found.values.size(), row.expected.values.size()) << label;
  double tolerance = row.tolerance * toleranceOf(row.expected.type);
  for (size_t i = 0; i < found.values.size(); ++i) {
    double expected = row.expected.values[i];
    if (std::isnan(expected) || std::isinf(expected) || !isFloat(row.expected.type))
      EXPECT_TRUE(found.values[i] == expected || (std::isnan(expected) && std::isnan(found.values[i])))
          << label << ", element " << i << ": found " << found.values[i] << ", expected " << expected;
    else
      EXPECT_NEAR(found.values[i], expected, tolerance * std::max(1.0, std::abs(expected)))
          << label << ", element " << i;
  }
}

class OperatorTypes : public testing::TestWithParam<ElementType> {};

TEST_P(OperatorTypes, FoldedAtImport) {
  ElementType type = GetParam();
  std::vector<TypedCase> cases = casesOf(type);
  // One model each: a failure names its operator, and the others are still tried.
  for (const TypedCase &row : cases) {
    TypedModel typed = modelOf({row}, type, /*known=*/true);
    std::vector<Numbers> found = typed.model.evaluate();
    if (found.empty())
      ADD_FAILURE() << row.op << " of " << spelling(type).str() << " is not imported";
    else
      expectEqual(row, type, found[0], "folded");
  }
}

llvm::Expected<std::vector<HostTensor>> compileAndRun(const TypedModel &typed) {
  std::string path = writeTemporary("types.onnx", typed.model.serialized());
  Config config;
  config.target.threads = 1;
  CompileOptions options;
  options.ignoreRepository = true;
  auto compiled = loadOrCompile(path, config, {}, options);
  unlink(path.c_str());
  if (!compiled)
    return compiled.takeError();
  return runModel(*compiled, 1, typed.inputs);
}

void expectCompiled(const TypedModel &typed, ElementType type, const std::vector<HostTensor> &outputs) {
  ASSERT_EQ(outputs.size(), typed.cases.size());
  for (auto [row, output] : llvm::zip(typed.cases, outputs))
    expectEqual(*row, type, fromHost(output), "compiled");
}

TEST_P(OperatorTypes, Compiled) {
  ElementType type = GetParam();
  std::vector<TypedCase> cases = casesOf(type);
  TypedModel together = modelOf(cases, type, /*known=*/false);
  llvm::Expected<std::vector<HostTensor>> outputs = compileAndRun(together);
  if (outputs) {
    expectCompiled(together, type, *outputs);
    return;
  }
  ADD_FAILURE() << llvm::toString(outputs.takeError());
  // One by one, to name all that fail.
  for (const TypedCase &row : cases) {
    TypedModel alone = modelOf({row}, type, /*known=*/false);
    llvm::Expected<std::vector<HostTensor>> output = compileAndRun(alone);
    if (output)
      expectCompiled(alone, type, *output);
    else
      ADD_FAILURE() << row.op << " of " << spelling(type).str() << ": " << llvm::toString(output.takeError());
  }
}

INSTANTIATE_TEST_SUITE_P(All, OperatorTypes, testing::ValuesIn(allElementTypes()),
                         [](const auto &info) { return spelling(info.param).str(); });

} // namespace
