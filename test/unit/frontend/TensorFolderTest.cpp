// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor files and folders: round trips and damaged files.
#include "frontend/TensorFolder.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

using namespace autotune;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class TensorFiles : public testing::Test {
protected:
  TensorFiles() : folder(testing::TempDir() + "/tensors_" + std::to_string(getpid())) {
    llvm::sys::fs::create_directories(folder);
  }
  ~TensorFiles() override { llvm::sys::fs::remove_directories(folder); }

  std::string path(const std::string &file) const { return folder + "/" + file; }

  void write(const std::string &file, llvm::StringRef bytes) {
    std::error_code code;
    llvm::raw_fd_ostream stream(path(file), code);
    stream << bytes;
  }

  std::string folder;
};

template <typename T> std::string message(llvm::Expected<T> value) {
  return value ? "no error" : llvm::toString(value.takeError());
}

HostTensor tensor(const std::string &dtype, std::vector<int64_t> shape, size_t bytes) {
  HostTensor result{"t", dtype, std::move(shape), std::vector<char>(bytes)};
  for (size_t i = 0; i < bytes; ++i)
    result.bytes[i] = static_cast<char>(i * 7 + 1);
  return result;
}

std::vector<HostTensor> samples() {
  return {tensor("f32", {2, 3}, 24), tensor("f64", {}, 8),     tensor("f16", {5}, 10),    tensor("i8", {1}, 1),
          tensor("ui8", {0, 4}, 0),  tensor("i64", {2, 1}, 16), tensor("ui32", {1, 1, 1}, 4), tensor("i1", {3}, 3)};
}

TEST_F(TensorFiles, NpyRoundTrip) {
  for (const HostTensor &original : samples()) {
    ASSERT_FALSE(writeNpy(path("t.npy"), original));
    llvm::Expected<HostTensor> read = readNpy(path("t.npy"));
    ASSERT_TRUE(static_cast<bool>(read)) << llvm::toString(read.takeError());
    EXPECT_EQ(read->dtype, original.dtype);
    EXPECT_EQ(read->shape, original.shape);
    EXPECT_EQ(read->bytes, original.bytes);
  }
}

TEST_F(TensorFiles, ProtoRoundTrip) {
  for (const HostTensor &original : samples()) {
    ASSERT_FALSE(writeTensorProtoFile(path("t.pb"), original));
    llvm::Expected<HostTensor> read = readTensorFile(path("t.pb"));
    ASSERT_TRUE(static_cast<bool>(read)) << llvm::toString(read.takeError());
    EXPECT_EQ(read->dtype, original.dtype);
    EXPECT_EQ(read->shape, original.shape);
    EXPECT_EQ(read->name, "t");
    EXPECT_EQ(read->bytes.size(), original.bytes.size());
  }
}

std::string npy(const std::string &header, const std::string &data) {
  std::string bytes = "\x93NUMPY";
  bytes += {1, 0, static_cast<char>(header.size()), 0};
  return bytes + header + data;
}

TEST_F(TensorFiles, FortranOrderIsTurned) {
  write("f.npy", npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n", {1, 4, 2, 5, 3, 6}));
  llvm::Expected<HostTensor> read = readNpy(path("f.npy"));
  ASSERT_TRUE(static_cast<bool>(read)) << llvm::toString(read.takeError());
  EXPECT_THAT(read->bytes, ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(TensorFiles, BadNpyFilesAreRefused) {
  EXPECT_THAT(message(readNpy(path("missing.npy"))), HasSubstr("No such file"));
  write("text.npy", "hello");
  EXPECT_THAT(message(readNpy(path("text.npy"))), HasSubstr("not a .npy file"));
  write("big.npy", npy("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }\n", "abcd"));
  EXPECT_THAT(message(readNpy(path("big.npy"))), HasSubstr("'>f4'"));
  write("huge.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 99999999999), }\n", ""));
  EXPECT_THAT(message(readNpy(path("huge.npy"))), HasSubstr("impossible shape"));
  ASSERT_FALSE(writeNpy(path("t.npy"), tensor("f32", {2, 3}, 24)));
  std::string whole = llvm::MemoryBuffer::getFile(path("t.npy")).get()->getBuffer().str();
  for (size_t length = 0; length < whole.size(); ++length) {
    write("cut.npy", llvm::StringRef(whole).take_front(length));
    EXPECT_THAT(message(readNpy(path("cut.npy"))), HasSubstr("cut.npy: "));
  }
}

TEST_F(TensorFiles, FolderRoundTrip) {
  TensorFolder tensors{{tensor("f32", {2}, 8)}, {tensor("bf16", {2}, 4), tensor("i1", {1}, 1)}};
  tensors.outputs[0].name = "first";
  ASSERT_FALSE(writeTensorFolder(path("out/deep"), tensors));
  llvm::Expected<TensorFolder> read = readTensorFolder(path("out/deep"));
  ASSERT_TRUE(static_cast<bool>(read)) << llvm::toString(read.takeError());
  ASSERT_EQ(read->inputs.size(), 1u);
  ASSERT_EQ(read->outputs.size(), 2u);
  EXPECT_EQ(read->outputs[0].name, "first");
  EXPECT_EQ(read->outputs[0].dtype, "bf16");
  EXPECT_EQ(read->outputs[0].bytes, tensors.outputs[0].bytes);
}

TEST_F(TensorFiles, OnnxTestDataFolder) {
  ASSERT_FALSE(writeTensorProtoFile(path("input_0.pb"), tensor("f32", {2}, 8)));
  ASSERT_FALSE(writeTensorProtoFile(path("input_1.pb"), tensor("i64", {}, 8)));
  ASSERT_FALSE(writeTensorProtoFile(path("output_0.pb"), tensor("f32", {2}, 8)));
  llvm::Expected<TensorFolder> read = readTensorFolder(folder);
  ASSERT_TRUE(static_cast<bool>(read)) << llvm::toString(read.takeError());
  EXPECT_EQ(read->inputs.size(), 2u);
  EXPECT_EQ(read->outputs.size(), 1u);
}

TEST_F(TensorFiles, ManifestAndFileMustAgree) {
  ASSERT_FALSE(writeNpy(path("a.npy"), tensor("f32", {2}, 8)));
  write("manifest.json", R"({"inputs": [{"name": "x", "file": "a.npy", "dtype": "float32", "shape": [3]}]})");
  EXPECT_THAT(message(readTensorFolder(folder)), HasSubstr("has shape [2], its manifest says [3]"));
  write("manifest.json", R"({"inputs": [{"name": "x", "file": "a.npy", "dtype": "int64", "shape": [2]}]})");
  EXPECT_THAT(message(readTensorFolder(folder)), HasSubstr("holds f32, its manifest says int64"));
  write("manifest.json", "{");
  EXPECT_THAT(message(readTensorFolder(folder)), HasSubstr("not valid JSON"));
  EXPECT_THAT(message(readTensorFolder("/nonexistent")), HasSubstr("no such folder"));
}

} // namespace
