// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which float outputs stand for integers, and element types that are refused by name.
#include "frontend/OutputQuanta.h"
#include "test/unit/frontend/KnownModel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace autotune;
using namespace autotune::test;
using testing::HasSubstr;

namespace {

TEST(OutputQuanta, ScaleOfTheDequantizeLinearThatMakesTheOutput) {
  KnownModel model;
  model.input("x", {2, 3}, onnx::TensorProto::UINT8);
  model.tensor("s", {ElementType::F32, {}, {0.25}});
  model.ints("shape", {2}, {3, 2}).node("DequantizeLinear", {"x", "s"}, {"d"});
  model.node("Transpose", {"d"}, {"t"}).node("Reshape", {"t", "shape"}, {"y"}).node("Relu", {"d"}, {"z"});
  model.output("d").output("y").output("z");
  llvm::StringMap<double> quanta = outputQuanta(model.model);
  EXPECT_EQ(quanta.lookup("d"), 0.25);
  EXPECT_EQ(quanta.lookup("y"), 0.25);
  EXPECT_EQ(quanta.count("z"), 0u);
}

TEST(OutputQuanta, ScaleOfTheQuantizeLinearThatReadsTheOutput) {
  KnownModel model;
  model.input("x", {2, 3});
  model.tensor("s", {ElementType::F32, {}, {0.125}}).node("Softmax", {"x"}, {"y"});
  model.node("QuantizeLinear", {"y", "s"}, {"q"}).output("y").output("q");
  llvm::StringMap<double> quanta = outputQuanta(model.model);
  EXPECT_EQ(quanta.lookup("y"), 0.125);
  EXPECT_EQ(quanta.count("q"), 0u);
}

TEST(OutputQuanta, ScalesOfChannelsAreNoQuantum) {
  KnownModel model;
  model.input("x", {2, 3}, onnx::TensorProto::UINT8);
  model.tensor("s", {ElementType::F32, {3}, {1, 2, 3}});
  model.node("DequantizeLinear", {"x", "s"}, {"y"}).output("y");
  EXPECT_TRUE(outputQuanta(model.model).empty());
}

TEST(OutputQuanta, CyclesEnd) {
  KnownModel model;
  model.node("Identity", {"a"}, {"b"}).node("Identity", {"b"}, {"a"}).output("a");
  EXPECT_TRUE(outputQuanta(model.model).empty());
}

struct Refused {
  int32_t code;
  const char *name;
};

const Refused kRefused[] = {{8, "STRING"},      {14, "COMPLEX64"}, {15, "COMPLEX128"}, {17, "FLOAT8E4M3FN"},
                            {19, "FLOAT8E5M2"}, {21, "UINT4"},     {22, "INT4"},       {23, "FLOAT4E2M1"}};

TEST(ElementTypes, UnsupportedOnesAreRefusedByName) {
  for (const Refused &type : kRefused) {
    TestModel input(21);
    input.model.set_ir_version(10);
    input.input("x", {2}, type.code).node("Identity", {"x"}, {"y"}).output("y");
    EXPECT_THAT(imported(input), HasSubstr(std::string("input 'x' has element type ") + type.name));
    TestModel initializer(21);
    initializer.model.set_ir_version(10);
    initializer.input("x", {2}).ints("c", {2}, {1, 2}).node("Cast", {"c"}, {"d"}).attribute("to", int64_t(1));
    initializer.model.mutable_graph()->mutable_initializer(0)->set_data_type(type.code);
    initializer.node("Add", {"x", "d"}, {"y"}).output("y");
    EXPECT_THAT(imported(initializer), HasSubstr(std::string("tensor 'c' has element type ") + type.name));
    TestModel cast(21);
    cast.model.set_ir_version(10);
    cast.input("x", {2}).node("Cast", {"x"}, {"y"}).attribute("to", int64_t(type.code)).output("y");
    EXPECT_THAT(imported(cast), HasSubstr(std::string("cast to ") + type.name + " is not supported"));
  }
}

} // namespace
