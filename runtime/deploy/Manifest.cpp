// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads the manifest's JSON text. A file is never trusted: each number is checked before it is used as an
// index.
#include "runtime/deploy/Manifest.h"

#include "runtime/deploy/Artifact.h"
#include "runtime/deploy/RuntimeError.h"

#include <limits>
#include <nlohmann/json.hpp>

namespace autotune::deploy {

namespace {

using Json = nlohmann::json;

struct DtypeEntry {
  const char *name;
  autotune_dtype dtype;
  size_t bytes;
};

constexpr DtypeEntry kDtypes[] = {
    {"f32", AUTOTUNE_F32, 4},   {"f64", AUTOTUNE_F64, 8},   {"f16", AUTOTUNE_F16, 2},
    {"bf16", AUTOTUNE_BF16, 2}, {"i8", AUTOTUNE_I8, 1},     {"ui8", AUTOTUNE_UI8, 1},
    {"i16", AUTOTUNE_I16, 2},   {"i32", AUTOTUNE_I32, 4},   {"i64", AUTOTUNE_I64, 8},
    {"i1", AUTOTUNE_I1, 1},     {"ui16", AUTOTUNE_UI16, 2}, {"ui32", AUTOTUNE_UI32, 4},
    {"ui64", AUTOTUNE_UI64, 8},
};

const DtypeEntry *findDtype(const std::string &name) {
  for (const DtypeEntry &entry : kDtypes)
    if (name == entry.name)
      return &entry;
  return nullptr;
}

/// A value of the document with its path, so that each message can say where it is.
class Node {
public:
  Node(const Json &value, std::string path) : value(value), path(std::move(path)) {}

  [[noreturn]] void fail(const std::string &expected) const {
    std::string found = value.dump(-1, ' ', true, Json::error_handler_t::replace);
    if (found.size() > 60)
      found = found.substr(0, 57) + "...";
    throw RuntimeError(AUTOTUNE_ERROR_FORMAT,
                       "manifest: " + path + " is " + found + ", expected " + expected);
  }

  Node at(const char *key) const {
    if (!value.is_object())
      fail("an object");
    auto it = value.find(key);
    if (it == value.end())
      throw RuntimeError(AUTOTUNE_ERROR_FORMAT, "manifest: " + path + " lacks '" + key + "'");
    return Node(*it, path == "document" ? key : path + "." + key);
  }
  bool has(const char *key) const { return value.is_object() && value.contains(key); }
  Node at(size_t index) const { return Node(value.at(index), path + "[" + std::to_string(index) + "]"); }

  size_t size() const {
    if (!value.is_array())
      fail("an array");
    return value.size();
  }
  std::string string() const {
    if (!value.is_string())
      fail("a string");
    return value.get<std::string>();
  }
  bool boolean() const {
    if (!value.is_boolean())
      fail("true or false");
    return value.get<bool>();
  }
  int64_t integer(int64_t low, int64_t high) const {
    bool tooLarge = value.is_number_unsigned() &&
                    value.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    if (!value.is_number_integer() || tooLarge || value.get<int64_t>() < low || value.get<int64_t>() > high)
      fail("an integer from " + std::to_string(low) + " to " + std::to_string(high));
    return value.get<int64_t>();
  }

private:
  const Json &value;
  std::string path;
};

constexpr int64_t kMaxBytes = int64_t(1) << 46; // below the address space of a process

TensorSpec readTensor(const Node &node) {
  TensorSpec tensor;
  tensor.name = node.at("name").string();
  tensor.dtypeName = node.at("dtype").string();
  const DtypeEntry *entry = findDtype(tensor.dtypeName);
  if (!entry)
    node.at("dtype").fail("one of f32 f64 f16 bf16 i8 ui8 i16 i32 i64 i1");
  tensor.dtype = entry->dtype;
  int64_t bytes = static_cast<int64_t>(entry->bytes);
  Node shape = node.at("shape");
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    tensor.shape.push_back(shape.at(axis).integer(0, kMaxBytes));
    if (__builtin_mul_overflow(bytes, tensor.shape.back(), &bytes) || bytes > kMaxBytes)
      shape.fail("a tensor that fits in memory");
  }
  tensor.bytes = static_cast<size_t>(bytes);
  return tensor;
}

std::vector<TensorSpec> readTensors(const Node &node) {
  std::vector<TensorSpec> tensors;
  for (size_t i = 0; i < node.size(); ++i)
    tensors.push_back(readTensor(node.at(i)));
  return tensors;
}

/// The tensor's place in ["input", index, offset].
StepArg readTensorArg(const Node &node, ArgPlace place, const std::vector<TensorSpec> &tensors) {
  if (node.size() != 3)
    node.fail("three elements: place, index, offset");
  StepArg arg;
  arg.place = place;
  arg.index = static_cast<size_t>(node.at(1).integer(0, static_cast<int64_t>(tensors.size()) - 1));
  arg.offset = static_cast<size_t>(node.at(2).integer(0, static_cast<int64_t>(tensors[arg.index].bytes)));
  return arg;
}

/// The place in ["arena", offset].
StepArg readBufferArg(const Node &node, ArgPlace place, size_t bufferBytes) {
  if (node.size() != 2)
    node.fail("two elements: place, offset");
  StepArg arg;
  arg.place = place;
  arg.offset = static_cast<size_t>(node.at(1).integer(0, static_cast<int64_t>(bufferBytes)));
  return arg;
}

StepArg readArg(const Node &node, const ProfileSpec &profile, size_t constantsBytes) {
  std::string place = node.size() ? node.at(size_t(0)).string() : "";
  if (place == "input")
    return readTensorArg(node, ArgPlace::Input, profile.inputs);
  if (place == "output")
    return readTensorArg(node, ArgPlace::Output, profile.outputs);
  if (place == "arena")
    return readBufferArg(node, ArgPlace::Arena, profile.arenaBytes);
  if (place == "constant")
    return readBufferArg(node, ArgPlace::Constant, constantsBytes);
  node.fail("an array that starts with input, output, arena or constant");
}

StepSpec readStep(const Node &node, const ProfileSpec &profile, uint32_t kernelCount, size_t constantsBytes) {
  StepSpec step;
  step.kernel = static_cast<uint32_t>(node.at("kernel").integer(0, static_cast<int64_t>(kernelCount) - 1));
  step.label = node.at("label").string();
  step.chunks = node.at("chunks").integer(1, std::numeric_limits<int32_t>::max());
  step.parallel = node.at("parallel").boolean();
  Node args = node.at("args");
  for (size_t i = 0; i < args.size(); ++i)
    step.args.push_back(readArg(args.at(i), profile, constantsBytes));
  return step;
}

KernelSpec readKernel(const Node &node) {
  constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
  KernelSpec kernel;
  kernel.kind = node.at("kind").string();
  kernel.opClass = node.at("class").string();
  kernel.shapes = node.at("shapes").string();
  kernel.tail = node.at("tail").string();
  kernel.schedule = node.at("schedule").string();
  kernel.source = node.at("schedule_source").string();
  kernel.flops = node.at("flops").integer(0, kAny);
  kernel.bytesRead = node.at("bytes_read").integer(0, kAny);
  kernel.bytesWritten = node.at("bytes_written").integer(0, kAny);
  kernel.scratchBytes = static_cast<size_t>(node.at("scratch_bytes").integer(0, kMaxBytes));
  return kernel;
}

Denormals readDenormals(const Node &root) {
  if (!root.has("denormals"))
    return Denormals::Kept;
  std::string word = root.at("denormals").string();
  if (word != "flushed" && word != "kept")
    root.at("denormals").fail("flushed or kept");
  return word == "flushed" ? Denormals::Flushed : Denormals::Kept;
}

std::vector<KernelSpec> readKernels(const Node &root, uint32_t kernelCount) {
  std::vector<KernelSpec> kernels;
  if (!root.has("kernels"))
    return std::vector<KernelSpec>(kernelCount);
  Node list = root.at("kernels");
  if (list.size() != kernelCount)
    list.fail("an array of " + std::to_string(kernelCount) + " kernels");
  for (size_t i = 0; i < list.size(); ++i)
    kernels.push_back(readKernel(list.at(i)));
  return kernels;
}

ProfileSpec readProfile(const Node &node, uint32_t kernelCount, size_t constantsBytes) {
  ProfileSpec profile;
  profile.inputs = readTensors(node.at("inputs"));
  profile.outputs = readTensors(node.at("outputs"));
  profile.arenaBytes = static_cast<size_t>(node.at("arena_bytes").integer(0, kMaxBytes));
  if (node.has("tensor_bytes"))
    profile.tensorBytes =
        static_cast<size_t>(node.at("tensor_bytes").integer(0, std::numeric_limits<int64_t>::max()));
  Node steps = node.at("steps");
  for (size_t i = 0; i < steps.size(); ++i)
    profile.steps.push_back(readStep(steps.at(i), profile, kernelCount, constantsBytes));
  return profile;
}

} // namespace

std::string TensorSpec::text() const {
  std::string text = name + ": ";
  for (int64_t extent : shape)
    text += std::to_string(extent) + "x";
  return text + dtypeName;
}

size_t dtypeBytes(const std::string &dtypeName) {
  const DtypeEntry *entry = findDtype(dtypeName);
  return entry ? entry->bytes : 0;
}

Manifest parseManifest(const char *text, uint32_t kernelCount) {
  Json document = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded())
    throw RuntimeError(AUTOTUNE_ERROR_FORMAT, "manifest: not valid JSON");
  Node root(document, "document");
  int64_t format = root.at("format").integer(0, std::numeric_limits<int32_t>::max());
  if (format != AUTOTUNE_MANIFEST_FORMAT)
    throw RuntimeError(AUTOTUNE_ERROR_VERSION, "manifest: format " + std::to_string(format) + ", expected " +
                                                   std::to_string(AUTOTUNE_MANIFEST_FORMAT));
  Manifest manifest;
  manifest.model = root.at("model").string();
  manifest.toolVersion = root.at("tool_version").string();
  manifest.llvmVersion = root.at("llvm_version").string();
  manifest.deviceKey = root.at("device").at("key").string();
  manifest.isa = root.at("device").at("isa").string();
  manifest.threads = static_cast<int>(root.at("threads").integer(1, 4096));
  manifest.constantsBytes = static_cast<size_t>(root.at("constants_bytes").integer(0, kMaxBytes));
  manifest.denormals = readDenormals(root);
  manifest.kernels = readKernels(root, kernelCount);
  Node profiles = root.at("profiles");
  if (profiles.size() == 0)
    profiles.fail("at least one profile");
  for (size_t i = 0; i < profiles.size(); ++i)
    manifest.profiles.push_back(readProfile(profiles.at(i), kernelCount, manifest.constantsBytes));
  return manifest;
}

} // namespace autotune::deploy
