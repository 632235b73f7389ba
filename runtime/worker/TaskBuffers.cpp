// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/worker/TaskBuffers.h"

#include "runtime/deploy/Artifact.h"
#include "runtime/deploy/RuntimeError.h"
#include "runtime/worker/Scalars.h"
#include "schedule/Algorithm.h"
#include "schedule/Errors.h"

#include <algorithm>
#include <cstring>

namespace autotune::worker {

namespace {

constexpr size_t kGuardBytes = AUTOTUNE_BUFFER_ALIGNMENT;
constexpr std::byte kPattern{0xff};
constexpr size_t kMaxWeightCopies = 64;

size_t aligned(size_t bytes) {
  return (bytes + AUTOTUNE_BUFFER_ALIGNMENT - 1) & ~size_t(AUTOTUNE_BUFFER_ALIGNMENT - 1);
}

/// SplitMix64 (Steele, Lea, Flood 2014).
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// In [-1, 1), with 23 bits: exact in f32.
  double unit() { return static_cast<double>(static_cast<int64_t>(next() >> 40) - (1 << 23)) * 0x1p-23; }

private:
  uint64_t state;
};

void fillRandom(std::byte *data, size_t bytes, const ScalarType &type, double scale, uint64_t seed) {
  Random random(seed);
  for (size_t at = 0; at < bytes; at += type.bytes) {
    double value = 0;
    if (type.scalarClass == ScalarClass::Float)
      value = scale * random.unit();
    else if (type.scalarClass == ScalarClass::Bool)
      value = static_cast<double>(random.next() & 1);
    else if (type.bytes == 1)
      value = static_cast<double>(random.next() >> 57); // 0 to 127: legal in both i8 and ui8
    type.store(data + at, value);
  }
}

/// Transforms of random 3x3 filters, block by block.
void fillTransformed(std::byte *data, const KernelArg &arg, uint64_t seed) {
  Random random(seed);
  int64_t side = arg.winogradOutputs + 2, blockSize = side * side * arg.winogradFilters;
  auto *values = reinterpret_cast<float *>(data), *end = values + arg.bytes / int64_t(sizeof(float));
  for (; values + blockSize <= end; values += blockSize)
    for (int64_t filter = 0; filter < arg.winogradFilters; ++filter) {
      float taps[9];
      for (float &tap : taps)
        tap = static_cast<float>(random.unit());
      transformFilter(arg.winogradOutputs, taps, values + filter, arg.winogradFilters);
    }
}

void fillArgument(std::byte *data, const KernelArg &arg, uint64_t seed) {
  auto bytes = static_cast<size_t>(arg.bytes);
  if (arg.winogradOutputs > 0)
    fillTransformed(data, arg, seed);
  else
    fillRandom(data, bytes, *scalarType(arg.dtype), arg.scale, seed);
}

size_t roleBytes(const KernelTask &task, ArgRole role, size_t extra = 0) {
  size_t bytes = 0;
  for (const KernelArg &arg : task.args)
    if (arg.role == role)
      bytes += aligned(static_cast<size_t>(arg.bytes)) + extra;
  return bytes;
}

llvm::Error verify(const KernelTask &task, size_t totalBytes, int64_t memoryLimitBytes) {
  for (size_t i = 0; i < task.args.size(); ++i) {
    const KernelArg &arg = task.args[i];
    std::optional<ScalarType> type = scalarType(arg.dtype);
    if (!type)
      return makeError("argument {0} has the unknown type '{1}'", i, arg.dtype);
    if (arg.bytes < 0 || arg.bytes % static_cast<int64_t>(type->bytes) != 0)
      return makeError("argument {0} has {1} bytes, expected a multiple of {2}", i, arg.bytes, type->bytes);
    if (arg.winogradOutputs != 0 &&
        (arg.dtype != "f32" || winogradOutputs(winogradName(arg.winogradOutputs)) == 0))
      return makeError("argument {0} has filters of {1} for {2} outputs, expected f32 for 2 or 4", i,
                       arg.dtype, arg.winogradOutputs);
    if (arg.winogradOutputs != 0 && arg.winogradFilters <= 0)
      return makeError("argument {0} has blocks of {1} filters, expected at least one", i,
                       arg.winogradFilters);
  }
  if (memoryLimitBytes > 0 && totalBytes > static_cast<size_t>(memoryLimitBytes))
    return makeError("the arguments need {0} bytes, more than the limit of {1}", totalBytes,
                     memoryLimitBytes);
  return llvm::Error::success();
}

size_t weightCopiesFor(const KernelTask &task, size_t weightBytes) {
  if (weightBytes == 0 || task.streamedWeightBytes <= 0)
    return 1;
  size_t wanted = (static_cast<size_t>(task.streamedWeightBytes) + weightBytes - 1) / weightBytes;
  return std::clamp<size_t>(wanted, 1, kMaxWeightCopies);
}

} // namespace

llvm::Expected<TaskBuffers> TaskBuffers::create(const KernelTask &task, int64_t memoryLimitBytes) {
  size_t weightBytes = roleBytes(task, ArgRole::Weight);
  size_t copies = weightCopiesFor(task, weightBytes);
  size_t inputBytes = roleBytes(task, ArgRole::Input);
  size_t outputBytes = roleBytes(task, ArgRole::Output, kGuardBytes) + kGuardBytes;
  if (llvm::Error error = verify(task, weightBytes * copies + inputBytes + outputBytes, memoryLimitBytes))
    return error;
  TaskBuffers buffers;
  buffers.argSets.assign(copies, std::vector<void *>(task.args.size()));
  try {
    buffers.inputMemory = deploy::MappedMemory::anonymous(inputBytes);
    buffers.outputMemory = deploy::MappedMemory::anonymous(outputBytes);
    buffers.placeWeights(task, copies);
  } catch (const deploy::RuntimeError &error) {
    return makeError("{0}", error.what());
  }
  std::byte *input = buffers.inputMemory.data();
  std::byte *output = buffers.outputMemory.data() + kGuardBytes;
  for (size_t i = 0; i < task.args.size(); ++i) {
    const KernelArg &arg = task.args[i];
    auto bytes = static_cast<size_t>(arg.bytes);
    if (arg.role == ArgRole::Weight)
      continue;
    std::byte *&place = arg.role == ArgRole::Input ? input : output;
    for (std::vector<void *> &args : buffers.argSets)
      args[i] = place;
    if (arg.role == ArgRole::Input) {
      fillArgument(place, arg, i + 1);
      place += aligned(bytes);
    } else {
      buffers.outputs.emplace_back(place, bytes);
      buffers.outputDtypes.push_back(arg.dtype);
      place += aligned(bytes) + kGuardBytes;
    }
  }
  buffers.inputMemory.makeReadOnly();
  buffers.clearOutputs();
  return buffers;
}

void TaskBuffers::placeWeights(const KernelTask &task, size_t copies) {
  size_t bytes = roleBytes(task, ArgRole::Weight);
  for (size_t copy = 0; copy < copies; ++copy) {
    deploy::MappedMemory &memory =
        weightMemory.emplace_back(deploy::MappedMemory::anonymous(bytes, deploy::Pages::Small));
    if (copy > 0 && bytes > 0)
      std::memcpy(memory.data(), weightMemory.front().data(), bytes);
    std::byte *place = memory.data();
    for (size_t i = 0; i < task.args.size(); ++i) {
      const KernelArg &arg = task.args[i];
      if (arg.role != ArgRole::Weight)
        continue;
      if (copy == 0)
        fillArgument(place, arg, i + 1);
      argSets[copy][i] = place;
      place += aligned(static_cast<size_t>(arg.bytes));
    }
    memory.makeReadOnly();
  }
}

void TaskBuffers::clearOutputs() {
  if (outputMemory.size() > 0)
    std::memset(outputMemory.data(), static_cast<int>(kPattern), outputMemory.size());
}

std::optional<size_t> TaskBuffers::damagedGuard() const {
  auto damaged = [](const std::byte *begin, const std::byte *end) {
    return std::any_of(begin, end, [](std::byte byte) { return byte != kPattern; });
  };
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::byte *begin = outputs[i].data(), *end = begin + outputs[i].size();
    const std::byte *next = outputs[i].data() + aligned(outputs[i].size()) + kGuardBytes;
    if (damaged(begin - kGuardBytes, begin) || damaged(end, next))
      return i;
  }
  return std::nullopt;
}

} // namespace autotune::worker
