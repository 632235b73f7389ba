// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sequences and optionals, which disappear at import.
#include "test/unit/frontend/Evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace autotune;
using namespace autotune::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

namespace {

TestModel threeTensors() {
  TestModel model(13);
  model.ints("a", {2}, {1, 2})
      .ints("b", {2}, {3, 4})
      .ints("c", {2}, {5, 6})
      .ints("zero", {}, {0})
      .ints("last", {}, {-1});
  model.node("SequenceConstruct", {"a", "b"}, {"s"});
  return model;
}

TEST(Sequence, InsertEraseAtAndLength) {
  TestModel model = threeTensors();
  model.node("SequenceInsert", {"s", "c", "zero"}, {"front"}).node("SequenceInsert", {"s", "c"}, {"back"});
  model.node("SequenceErase", {"front", "last"}, {"shorter"}).node("SequenceAt", {"shorter", "last"}, {"x"});
  model.node("SequenceAt", {"back", "last"}, {"y"}).node("SequenceLength", {"back"}, {"n"});
  model.output("x").output("y").output("n");
  std::vector<Tensor> results = evaluated(model);
  ASSERT_THAT(results, SizeIs(3));
  EXPECT_THAT(results[0].values, ElementsAre(1, 2));
  EXPECT_THAT(results[1].values, ElementsAre(5, 6));
  EXPECT_THAT(results[2].values, ElementsAre(3));
}

TEST(Sequence, ConcatOfKnownElementsIsKnown) {
  TestModel model = threeTensors();
  model.node("ConcatFromSequence", {"s"}, {"flat"}).attribute("axis", int64_t(0));
  model.node("ConcatFromSequence", {"s"}, {"stacked"})
      .attribute("axis", int64_t(-1))
      .attribute("new_axis", int64_t(1));
  model.output("flat").output("stacked");
  std::vector<Tensor> results = evaluated(model);
  ASSERT_THAT(results, SizeIs(2));
  EXPECT_THAT(results[0].values, ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(results[1].shape, (std::vector<int64_t>{2, 2}));
  EXPECT_THAT(results[1].values, ElementsAre(1, 3, 2, 4));
}

TEST(Sequence, SplitBySizesByOneSizeAndByOne) {
  TestModel model(13);
  model.ints("x", {1, 5}, {1, 2, 3, 4, 5})
      .ints("two", {}, {2})
      .ints("sizes", {2}, {1, 4})
      .ints("at", {}, {-1});
  model.node("SplitToSequence", {"x", "two"}, {"a"})
      .attribute("axis", int64_t(1))
      .node("SequenceAt", {"a", "at"}, {"p"});
  model.node("SplitToSequence", {"x", "sizes"}, {"b"})
      .attribute("axis", int64_t(1))
      .node("SequenceAt", {"b", "at"}, {"q"});
  model.node("SplitToSequence", {"x"}, {"c"}).attribute("axis", int64_t(1)).attribute("keepdims", int64_t(0));
  model.node("SequenceAt", {"c", "at"}, {"r"}).output("p").output("q").output("r");
  std::vector<Tensor> results = evaluated(model);
  ASSERT_THAT(results, SizeIs(3));
  EXPECT_THAT(results[0].values, ElementsAre(5));
  EXPECT_THAT(results[1].values, ElementsAre(2, 3, 4, 5));
  EXPECT_EQ(results[2].shape, (std::vector<int64_t>{1}));
}

TEST(Sequence, RunTimeElementsLeaveNoTrace) {
  TestModel model(13);
  model.input("x", {2, 3}).ints("one", {}, {1}).node("SplitToSequence", {"x"}, {"s"});
  model.node("SequenceAt", {"s", "one"}, {"y"}).output("y");
  std::string text = imported(model);
  EXPECT_THAT(text, HasSubstr("tensor.extract_slice %arg0[1, 0] [1, 3] [1, 1]"));
  EXPECT_THAT(text, Not(HasSubstr("error")));
}

TEST(Sequence, MapRunsItsBodyForEachElement) {
  TestModel model(17);
  model.ints("a", {1}, {1})
      .ints("b", {2}, {2, 3})
      .ints("plus", {}, {10})
      .node("SequenceConstruct", {"a", "b"}, {"s"});
  model.node("SequenceMap", {"s", "plus"}, {"mapped"});
  auto *graph = model.model.mutable_graph();
  auto *attribute = graph->mutable_node(1)->add_attribute();
  attribute->set_name("body");
  attribute->set_type(onnx::AttributeProto::GRAPH);
  onnx::GraphProto &body = *attribute->mutable_g();
  body.set_name("body");
  for (const char *name : {"e", "p"}) {
    body.add_input()->set_name(name);
    body.mutable_input(body.input_size() - 1)->mutable_type()->mutable_tensor_type()->set_elem_type(7);
  }
  body.add_output()->set_name("sum");
  body.mutable_output(0)->mutable_type()->mutable_tensor_type()->set_elem_type(7);
  auto *add = body.add_node();
  add->set_op_type("Add");
  for (const char *name : {"e", "p"})
    add->add_input(name);
  add->add_output("sum");
  model.node("ConcatFromSequence", {"mapped"}, {"y"}).attribute("axis", int64_t(0)).output("y");
  EXPECT_THAT(evaluatedOne(model).values, ElementsAre(11, 12, 13));
}

/// A model input `x` of the given kind of tensors.
onnx::TypeProto &addInput(TestModel &model, bool sequence) {
  auto *input = model.model.mutable_graph()->add_input();
  input->set_name("x");
  onnx::TypeProto *type = input->mutable_type();
  type = sequence ? type->mutable_sequence_type()->mutable_elem_type()
                  : type->mutable_optional_type()->mutable_elem_type();
  type->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
  return *input->mutable_type();
}

TEST(Sequence, InputsAndOutputsAreTheirElements) {
  TestModel model(13);
  addInput(model, /*sequence=*/true);
  model.node("Identity", {"x"}, {"y"});
  auto *output = model.model.mutable_graph()->add_output();
  output->set_name("y");
  *output->mutable_type() = model.model.graph().input(0).type();
  std::string text = imported(model, {{"x[0]", {2}}, {"x[1]", {3, 1}}});
  EXPECT_THAT(text, HasSubstr("(%arg0: tensor<2xf32> {autotune.name = \"x[0]\"}"));
  EXPECT_THAT(text, HasSubstr("%arg1: tensor<3x1xf32> {autotune.name = \"x[1]\"}"));
  EXPECT_THAT(text, HasSubstr("{autotune.name = \"y[1]\"}"));
}

TEST(Optional, AValueIsThereWhenItsShapeIsGiven) {
  TestModel model(15);
  addInput(model, /*sequence=*/false);
  model.node("OptionalHasElement", {"x"}, {"y"}).output("y");
  EXPECT_THAT(imported(model, {{"x", {2}}}), HasSubstr("arith.constant dense<true> : tensor<i1>"));
  EXPECT_THAT(imported(model), HasSubstr("arith.constant dense<false> : tensor<i1>"));
}

TEST(Optional, NothingCannotBeRead) {
  TestModel model(15);
  addInput(model, /*sequence=*/false);
  model.node("OptionalGetElement", {"x"}, {"y"}).output("y");
  EXPECT_THAT(imported(model),
              HasSubstr("OptionalGetElement_node' (OptionalGetElement): the optional has no value"));
  TestModel relu(15);
  addInput(relu, /*sequence=*/false);
  relu.node("Relu", {"x"}, {"y"}).output("y");
  EXPECT_THAT(imported(relu),
              HasSubstr("reads 'x', which is an optional without a value, expected a tensor"));
}

TEST(Sequence, MisuseIsExplained) {
  TestModel far = threeTensors();
  far.ints("two", {}, {2}).node("SequenceAt", {"s", "two"}, {"y"}).output("y");
  EXPECT_THAT(imported(far), HasSubstr("position 2 is outside a sequence of 2"));
  TestModel relu = threeTensors();
  relu.node("Relu", {"s"}, {"y"}).output("y");
  EXPECT_THAT(imported(relu), HasSubstr("reads 's', which is a sequence, expected a tensor"));
  TestModel tensor = threeTensors();
  tensor.node("SequenceLength", {"a"}, {"y"}).output("y");
  EXPECT_THAT(imported(tensor), HasSubstr("input 0 is not a sequence"));
  TestModel late = threeTensors();
  late.input("i", {}, onnx::TensorProto::INT64).node("SequenceAt", {"s", "i"}, {"y"}).output("y");
  EXPECT_THAT(imported(late), HasSubstr("must be integers known at import"));
}

} // namespace
