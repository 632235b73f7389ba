// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/conformance/ConformanceCase.h"

#include "test/conformance/DataSet.h"

#include "frontend/ConstantTensor.h"
#include "frontend/OnnxModel.h"
#include "frontend/OnnxProto.h"
#include "frontend/TensorFolder.h"
#include "tools/CompileModel.h"
#include "tools/RunModel.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <cmath>
#include <functional>

namespace autotune {
namespace {

/// ONNX's own backend tests allow these: |found - expected| <= absolute + relative * |expected|.
constexpr double kAbsolute = 1e-7, kRelative = 1e-3;
/// Half types have 11 and 8 bits: one unit in the last place of a value that was rounded twice.
double relativeTolerance(ElementType type) {
  return type == ElementType::BF16 ? 1.6e-2 : type == ElementType::F16 ? 2e-3 : kRelative;
}

std::string typeText(const HostTensor &tensor) {
  std::string text;
  for (int64_t extent : tensor.shape)
    text += std::to_string(extent) + "x";
  return text + tensor.dtype;
}

bool isClose(double found, double expected, double relative) {
  if (std::isnan(found) || std::isnan(expected))
    return std::isnan(found) && std::isnan(expected);
  if (std::isinf(found) || std::isinf(expected))
    return found == expected;
  return std::abs(found - expected) <= kAbsolute + relative * std::abs(expected);
}

llvm::Error compare(const HostTensor &found, const HostTensor &expected, llvm::StringRef output) {
  std::optional<ElementType> type = elementTypeFromSpelling(expected.dtype);
  if (!type || found.dtype != expected.dtype || found.shape != expected.shape)
    return llvm::createStringError("output `" + output + "`: found " + typeText(found) + ", expected " +
                                   typeText(expected));
  ConstantTensor x = ConstantTensor::view(*type, found.shape, found.bytes);
  ConstantTensor y = ConstantTensor::view(*type, expected.shape, expected.bytes);
  for (int64_t i = 0; i < x.size(); ++i) {
    bool good = isFloat(*type) ? isClose(x.floatAt(i), y.floatAt(i), relativeTolerance(*type))
                               : x.intAt(i) == y.intAt(i);
    if (!good)
      return llvm::createStringError(llvm::formatv("output `{0}`, element {1}: found {2:e8}, expected {3:e8}", output, i,
                                                   isFloat(*type) ? x.floatAt(i) : double(x.intAt(i)),
                                                   isFloat(*type) ? y.floatAt(i) : double(y.intAt(i)))
                                         .str());
  }
  return llvm::Error::success();
}

bool isInteger(const HostTensor &tensor) {
  std::optional<ElementType> type = elementTypeFromSpelling(tensor.dtype);
  return type && !isFloat(*type) && tensor.shape.size() <= 1;
}

/// Which inputs to fix, one attempt after the other.
std::vector<FixedInputs> attempts(const std::vector<HostTensor> &inputs) {
  FixedInputs none, integers, allButFirst, all;
  for (auto [index, tensor] : llvm::enumerate(inputs)) {
    if (isInteger(tensor))
      integers.push_back(tensor.name);
    if (index > 0)
      allButFirst.push_back(tensor.name);
    all.push_back(tensor.name);
  }
  std::vector<FixedInputs> result = {none, integers, allButFirst, all};
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

llvm::Error compareOutputs(const std::vector<HostTensor> &found, const std::vector<HostTensor> &expected) {
  if (found.size() < expected.size())
    return llvm::createStringError(
        llvm::formatv("found {0} outputs, expected {1}", found.size(), expected.size()).str());
  for (auto [output, wanted] : llvm::zip(found, expected))
    if (llvm::Error error = compare(output, wanted, output.name))
      return error;
  return llvm::Error::success();
}

/// Sets `isImported` once the import is through: what fails later does not fail for want of a value.
llvm::Error runDataSet(const std::string &model, const DataSet &data, const FixedInputs &fixed, bool &isImported) {
  isImported = false;
  Config config;
  config.target.threads = 1;
  std::vector<HostTensor> given;
  for (auto [tensor, file] : llvm::zip_equal(data.inputs, data.files)) {
    // Elements of sequences have no file of their own.
    if (llvm::is_contained(fixed, tensor.name) && !file.empty())
      config.target.inputValues.push_back({tensor.name, file});
    else
      given.push_back(tensor);
  }
  CompileOptions options;
  options.ignoreRepository = true;
  llvm::Expected<ImportedModel> imported = importForTarget(model, config.target, given);
  if (!imported)
    return imported.takeError();
  isImported = true;
  auto compiled = compileInMemory(*imported, config, options);
  if (!compiled)
    return compiled.takeError();
  llvm::Expected<std::vector<HostTensor>> found = runModel(*compiled, 1, given);
  if (!found)
    return found.takeError();
  return compareOutputs(*found, data.outputs);
}

} // namespace

llvm::Expected<FixedInputs> runConformanceCase(llvm::StringRef folder) {
  std::string path = (folder + "/model.onnx").str();
  auto bytes = llvm::MemoryBuffer::getFile(path);
  if (!bytes)
    return llvm::createStringError(path + ": " + bytes.getError().message());
  auto model = parseOnnxModel((*bytes)->getBuffer());
  if (!model)
    return model.takeError();
  FixedInputs needed;
  for (int set = 0; llvm::sys::fs::is_directory(folder + "/test_data_set_" + llvm::Twine(set)); ++set) {
    llvm::Expected<DataSet> data =
        readDataSet((folder + "/test_data_set_" + llvm::Twine(set)).str(), **model);
    if (!data)
      return data.takeError();
    llvm::Error last = llvm::Error::success();
    bool isImported = false;
    for (const FixedInputs &fixed : attempts(data->inputs)) {
      if (isImported)
        break;
      llvm::consumeError(std::move(last));
      last = runDataSet(path, *data, fixed, isImported);
      needed = fixed;
    }
    if (last)
      return last;
  }
  return needed;
}

} // namespace autotune
