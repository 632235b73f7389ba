// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/RunModel.h"

#include "runtime/deploy/RuntimeError.h"
#include "runtime/deploy/Session.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Support/raw_ostream.h"

namespace autotune {
namespace {

/// The given tensors in the order of the model's inputs.
llvm::Expected<std::vector<const HostTensor *>> orderInputs(const deploy::ProfileSpec &profile,
                                                            const std::vector<HostTensor> &given) {
  auto nameOf = [](const auto &tensor) { return "`" + tensor.name + "`"; };
  bool unnamed = llvm::all_of(given, [](const HostTensor &tensor) { return tensor.name.empty(); });
  if (unnamed && given.size() != profile.inputs.size())
    return llvm::createStringError("found " + llvm::Twine(given.size()) + " inputs, expected " +
                                   llvm::Twine(profile.inputs.size()) + ": " +
                                   llvm::join(llvm::map_range(profile.inputs, nameOf), ", "));
  std::vector<const HostTensor *> ordered;
  for (auto [index, spec] : llvm::enumerate(profile.inputs)) {
    auto found =
        unnamed
            ? given.begin() + index
            : llvm::find_if(given, [&, &spec = spec](const HostTensor &t) { return t.name == spec.name; });
    if (found == given.end())
      return llvm::createStringError("input `" + spec.name + "` is missing; given are " +
                                     llvm::join(llvm::map_range(given, nameOf), ", "));
    if (found->dtype != spec.dtypeName)
      return llvm::createStringError("input `" + spec.name + "`: found " + found->dtype + ", expected " +
                                     spec.dtypeName);
    ordered.push_back(&*found);
  }
  // A folder made for the ONNX model also holds the inputs whose value was fixed when it was compiled.
  for (const HostTensor &tensor : given)
    if (!tensor.name.empty() && !llvm::is_contained(ordered, &tensor))
      llvm::errs() << "note: " << nameOf(tensor) << " is no input of the compiled model; ignored\n";
  return ordered;
}

} // namespace

bool isCompiledModel(llvm::StringRef path) {
  llvm::file_magic magic;
  return path.ends_with(".so") ||
         (!llvm::identify_magic(path, magic) && magic == llvm::file_magic::elf_shared_object);
}

llvm::Error catchRuntimeErrors(const std::function<void()> &work) {
  try {
    work();
    return llvm::Error::success();
  } catch (const deploy::RuntimeError &error) {
    return llvm::createStringError(llvm::Twine(error.what()));
  }
}

llvm::Expected<std::shared_ptr<const deploy::Model>> loadCompiledModel(const std::string &path) {
  std::shared_ptr<const deploy::Model> model;
  if (llvm::Error error = catchRuntimeErrors([&] { model = std::make_shared<deploy::Model>(path); }))
    return error;
  return model;
}

llvm::Expected<std::vector<HostTensor>> runModel(const std::shared_ptr<const deploy::Model> &model,
                                                 int threads, const std::vector<HostTensor> &given) {
  // Names and types of the inputs are the same in every profile.
  auto ordered = orderInputs(model->profile(0), given);
  if (!ordered)
    return ordered.takeError();
  std::vector<std::vector<int64_t>> shapes;
  std::vector<const void *> inputs;
  for (const HostTensor *tensor : *ordered) {
    shapes.push_back(tensor->shape);
    inputs.push_back(tensor->bytes.data());
  }
  std::vector<HostTensor> results;
  llvm::Error error = catchRuntimeErrors([&] {
    size_t profile = model->findProfile(shapes);
    std::vector<void *> outputs;
    for (const deploy::TensorSpec &spec : model->profile(profile).outputs)
      results.push_back({spec.name, spec.dtypeName, spec.shape, std::vector<char>(spec.bytes)});
    for (HostTensor &result : results)
      outputs.push_back(result.bytes.data());
    deploy::Session(model, threads).run(profile, inputs, outputs);
  });
  if (error)
    return error;
  return results;
}

} // namespace autotune
