// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads a model and checks that its parts agree with each other and with the processor.
#include "runtime/deploy/Model.h"

#include "runtime/deploy/CpuFeatures.h"
#include "runtime/deploy/RuntimeError.h"

#include <algorithm>

namespace autotune::deploy {

namespace {

std::string shapeText(const std::vector<int64_t> &shape) {
  if (shape.empty())
    return "scalar";
  std::string text;
  for (int64_t extent : shape)
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

std::string listProfiles(const Manifest &manifest) {
  std::string text;
  for (size_t p = 0; p < manifest.profiles.size(); ++p) {
    text += (p ? "; " : "") + std::to_string(p) + " = (";
    const std::vector<TensorSpec> &inputs = manifest.profiles[p].inputs;
    for (size_t i = 0; i < inputs.size(); ++i)
      text += (i ? ", " : "") + inputs[i].text();
    text += ")";
  }
  return text;
}

} // namespace

Model::Model(const std::string &path, bool verifyConstants, const CpuFeatures &cpu)
    : image(path, verifyConstants) {
  const AutotuneArtifact &artifact = image.description();
  try {
    contents = parseManifest(artifact.manifest, artifact.kernelCount);
  } catch (const RuntimeError &error) {
    throw RuntimeError(error.status(), path + ": " + error.what());
  }
  std::string mismatch = explainIsaMismatch(contents.isa, cpu);
  if (!mismatch.empty())
    throw RuntimeError(AUTOTUNE_ERROR_CPU, path + ": " + mismatch);
  if (contents.constantsBytes != image.constants().size())
    throw RuntimeError(AUTOTUNE_ERROR_FORMAT,
                       path + ": the manifest speaks of " + std::to_string(contents.constantsBytes) +
                           " bytes of constants, the file has " + std::to_string(image.constants().size()));
  for (uint32_t k = 0; k < artifact.kernelCount; ++k)
    if (!artifact.kernels[k])
      throw RuntimeError(AUTOTUNE_ERROR_FORMAT, path + ": kernel " + std::to_string(k) + " is missing");
}

const ProfileSpec &Model::profile(size_t index) const {
  if (index >= contents.profiles.size())
    throw RuntimeError(AUTOTUNE_ERROR_ARGUMENT, "profile " + std::to_string(index) + ", expected below " +
                                                    std::to_string(contents.profiles.size()));
  return contents.profiles[index];
}

size_t Model::findProfile(std::span<const std::vector<int64_t>> shapes) const {
  for (size_t p = 0; p < contents.profiles.size(); ++p) {
    const std::vector<TensorSpec> &inputs = contents.profiles[p].inputs;
    if (std::equal(
            inputs.begin(), inputs.end(), shapes.begin(), shapes.end(),
            [](const TensorSpec &input, const std::vector<int64_t> &shape) { return input.shape == shape; }))
      return p;
  }
  std::string given;
  for (const std::vector<int64_t> &shape : shapes)
    given += (given.empty() ? "" : ", ") + shapeText(shape);
  throw RuntimeError(AUTOTUNE_ERROR_SHAPE, "no profile for the input shapes (" + given +
                                               "); the model was compiled for: " + listProfiles(contents));
}

} // namespace autotune::deploy
