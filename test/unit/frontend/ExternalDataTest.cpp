// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights in files beside the model.
#include "test/unit/frontend/TestModel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

using autotune::test::importText;
using autotune::test::TestModel;
using testing::AllOf;
using testing::HasSubstr;

namespace {

namespace fs = std::filesystem;

/// A folder of its own for the model and its weights, with another folder beside it.
class ExternalData : public testing::Test {
protected:
  void SetUp() override {
    root = fs::path(testing::TempDir()) / ("external_" + std::to_string(getpid()));
    fs::create_directories(root / "model" / "deeper");
    fs::create_directories(root / "other");
    for (const char *name : {"model/weights.bin", "model/deeper/weights.bin", "other/weights.bin"})
      std::ofstream(root / name).write(reinterpret_cast<const char *>(values), sizeof values);
  }
  void TearDown() override { fs::remove_all(root); }

  using Fields = std::vector<std::pair<std::string, std::string>>;

  static void setExternal(onnx::TensorProto &tensor, const Fields &fields) {
    tensor.set_name("w");
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    tensor.add_dims(2);
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    for (const auto &[key, value] : fields) {
      auto *entry = tensor.add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    }
  }

  std::string import(const TestModel &model) {
    fs::path path = root / "model" / "model.onnx";
    std::ofstream(path) << model.serialized();
    llvm::Expected<std::string> text = importText(path.string());
    return text ? *text : "error: " + llvm::toString(text.takeError());
  }

  std::string import(const Fields &fields) {
    TestModel model;
    model.input("x", {2});
    setExternal(*model.model.mutable_graph()->add_initializer(), fields);
    model.node("Add", {"x", "w"}, {"y"}).output("y");
    return import(model);
  }

  const float values[3] = {1, 2, 3};
  fs::path root;
};

const char *const kSecondAndThird = "dense<[2.000000e+00, 3.000000e+00]>";

TEST_F(ExternalData, IsReadAtItsOffset) {
  EXPECT_THAT(import({{"location", "weights.bin"}, {"offset", "4"}, {"length", "8"}}),
              HasSubstr(kSecondAndThird));
  EXPECT_THAT(import({{"location", "deeper/weights.bin"}, {"offset", "4"}, {"checksum", "?"}}),
              HasSubstr(kSecondAndThird));
  EXPECT_THAT(import({{"location", "./weights.bin"}}), HasSubstr("dense<[1.000000e+00, 2.000000e+00]>"));
}

TEST_F(ExternalData, OffsetAndLengthAreChecked) {
  EXPECT_THAT(import({{"location", "weights.bin"}, {"offset", "8"}}),
              HasSubstr("tensor 'w': external file 'weights.bin' has 12 bytes, needed are 8 at offset 8"));
  EXPECT_THAT(import({{"location", "weights.bin"}, {"offset", "18446744073709551615"}}),
              HasSubstr("has 12 bytes"));
  EXPECT_THAT(import({{"location", "weights.bin"}, {"offset", "-4"}}),
              HasSubstr("offset '-4' is not a number"));
  EXPECT_THAT(import({{"location", "weights.bin"}, {"length", "12"}}),
              HasSubstr("external length is 12 bytes, its shape needs 8"));
}

TEST_F(ExternalData, MissingFilesAreNamed) {
  EXPECT_THAT(import({{"location", "missing.bin"}}),
              HasSubstr("tensor 'w': external file 'missing.bin': No such file or directory"));
  EXPECT_THAT(import({{"location", "deeper"}}), HasSubstr("'deeper' is not a regular file"));
  EXPECT_THAT(import({{"offset", "0"}}), HasSubstr("tensor 'w': names no external file"));
}

TEST_F(ExternalData, PathsStayInTheModelsFolder) {
  fs::create_symlink(root / "other" / "weights.bin", root / "model" / "link.bin");
  fs::create_symlink(root / "other", root / "model" / "linked");
  fs::create_symlink("weights.bin", root / "model" / "inner.bin");
  const auto outside = HasSubstr("is outside the model's folder");
  EXPECT_THAT(import({{"location", "../other/weights.bin"}}), outside);
  EXPECT_THAT(import({{"location", "deeper/../weights.bin"}}), outside);
  EXPECT_THAT(import({{"location", (root / "other" / "weights.bin").string()}}), outside);
  EXPECT_THAT(import({{"location", (root / "model" / "weights.bin").string()}}), outside);
  EXPECT_THAT(import({{"location", "link.bin"}}), outside);
  EXPECT_THAT(import({{"location", "linked/weights.bin"}}), outside);
  EXPECT_THAT(import({{"location", std::string("weights.bin\0x", 13)}}), outside);
  EXPECT_THAT(import({{"location", "inner.bin"}, {"offset", "4"}}), HasSubstr(kSecondAndThird));
}

TEST_F(ExternalData, FilesMayBeLargerThanTwoGigabytes) {
  const uint64_t offset = (uint64_t(3) << 30) + 4;
  {
    std::ofstream file(root / "model" / "large.bin", std::ios::binary);
    file.seekp(static_cast<std::streamoff>(offset)); // a hole: it takes no space
    file.write(reinterpret_cast<const char *>(values + 1), 8);
  }
  EXPECT_THAT(import({{"location", "large.bin"}, {"offset", std::to_string(offset)}}),
              HasSubstr(kSecondAndThird));
}

TEST_F(ExternalData, AttributesMayHaveIt) {
  TestModel model;
  model.input("x", {2}).node("Constant", {}, {"w"});
  auto *attribute = model.model.mutable_graph()->mutable_node(0)->add_attribute();
  attribute->set_name("value");
  attribute->set_type(onnx::AttributeProto::TENSOR);
  setExternal(*attribute->mutable_t(), {{"location", "weights.bin"}, {"offset", "4"}});
  model.node("Add", {"x", "w"}, {"y"}).output("y");
  EXPECT_THAT(import(model), HasSubstr(kSecondAndThird));
}

} // namespace
