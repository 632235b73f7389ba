// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The manifest is JSON, the table of kernels a small LLVM module, the constants follow the ELF image.

#include "runtime/build/ArtifactWriter.h"

#include "runtime/deploy/Artifact.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <cstring>

namespace autotune {
namespace {

using llvm::json::Array;
using llvm::json::Object;

llvm::Error fileError(llvm::StringRef path, const llvm::Twine &what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), "cannot write '" + path + "': " + what);
}

Array tensorsJson(const std::vector<PlanTensor> &tensors) {
  Array list;
  for (const PlanTensor &tensor : tensors)
    list.push_back(Object{{"name", tensor.name}, {"dtype", tensor.dtype}, {"shape", Array(tensor.shape)}});
  return list;
}

Array argumentJson(const StepArgument &argument, int64_t constantsBase) {
  switch (argument.place) {
  case BufferPlace::Input:
    return Array{"input", int64_t(argument.index), argument.offset};
  case BufferPlace::Output:
    return Array{"output", int64_t(argument.index), argument.offset};
  case BufferPlace::Arena:
    return Array{"arena", argument.offset};
  case BufferPlace::Constant:
    return Array{"constant", constantsBase + argument.offset};
  }
  llvm_unreachable("every place is handled");
}

Object profileJson(const ArtifactProfile &profile, llvm::ArrayRef<KernelBinary> kernels,
                   int64_t constantsBase) {
  Array steps;
  for (const PlanStep &step : profile.plan->steps) {
    size_t index = profile.kernels[step.kernel];
    Array arguments;
    for (const StepArgument &argument : step.arguments)
      arguments.push_back(argumentJson(argument, constantsBase));
    steps.push_back(Object{{"kernel", int64_t(index)},
                           {"label", step.label},
                           {"operator", step.operatorId},
                           {"chunks", kernels[index].chunks},
                           {"parallel", kernels[index].parallel},
                           {"args", std::move(arguments)}});
  }
  return Object{{"inputs", tensorsJson(profile.plan->inputs)},
                {"outputs", tensorsJson(profile.plan->outputs)},
                {"arena_bytes", profile.plan->arenaBytes},
                {"tensor_bytes", profile.plan->tensorBytes},
                {"steps", std::move(steps)}};
}

/// Counts of a model that is too large to run may be beyond 64 bits.
int64_t wholeNumber(double count) { return int64_t(std::min(count, 9e18)); }

Object kernelJson(const KernelBinary &kernel) {
  const KernelDescription &is = kernel.description;
  return Object{{"kind", is.kind},
                {"class", is.opClass},
                {"shapes", is.shapes},
                {"tail", is.tail},
                {"schedule", is.schedule},
                {"schedule_source", is.source},
                {"flops", wholeNumber(is.flops)},
                {"bytes_read", wholeNumber(is.bytesRead)},
                {"bytes_written", wholeNumber(is.bytesWritten)},
                {"scratch_bytes", kernel.object.scratchBytes}};
}

void appendConstants(const ModelPlan &plan, std::string &bytes) {
  size_t base = bytes.size();
  bytes.resize(base + size_t(plan.constantsBytes), '\0');
  for (const PlanConstant &constant : plan.constants) {
    llvm::ArrayRef<char> raw = constant.value.getRawData();
    auto type = mlir::cast<mlir::ShapedType>(constant.value.getType());
    char *to = bytes.data() + base + constant.offset;
    if (type.getElementTypeBitWidth() == 1) { // MLIR packs booleans in bits; a buffer has one byte each
      for (bool value : constant.value.getValues<bool>())
        *to++ = value;
    } else if (constant.value.isSplat()) {
      for (int64_t i = 0; i < type.getNumElements(); ++i, to += raw.size())
        std::memcpy(to, raw.data(), raw.size());
    } else {
      std::memcpy(to, raw.data(), raw.size());
    }
  }
}

} // namespace

llvm::Error writeArtifact(llvm::ArrayRef<KernelBinary> kernels, llvm::ArrayRef<ArtifactProfile> profiles,
                          const ArtifactInfo &info, llvm::StringRef path) {
  std::string constants;
  Array profileList;
  for (const ArtifactProfile &profile : profiles) {
    profileList.push_back(profileJson(profile, kernels, int64_t(constants.size())));
    appendConstants(*profile.plan, constants);
  }
  Array kernelList;
  for (const KernelBinary &kernel : kernels)
    kernelList.push_back(kernelJson(kernel));
  Object manifest{{"format", AUTOTUNE_MANIFEST_FORMAT},
                  {"model", info.modelName},
                  {"tool_version", info.toolVersion},
                  {"llvm_version", LLVM_VERSION_STRING},
                  {"device", Object{{"key", info.device.key()}, {"isa", isaName(info.device.isa)}}},
                  {"threads", info.threads},
                  {"denormals", info.keepDenormals ? "kept" : "flushed"},
                  {"constants_bytes", int64_t(constants.size())},
                  {"kernels", std::move(kernelList)},
                  {"profiles", std::move(profileList)}};
  std::vector<std::string> symbols;
  std::vector<ObjectCode> objects;
  for (const KernelBinary &kernel : kernels) {
    symbols.push_back(kernel.symbol);
    objects.push_back(kernel.object);
  }
  std::string manifestText;
  llvm::raw_string_ostream(manifestText) << llvm::json::Value(std::move(manifest));
  llvm::Expected<ObjectCode> table = emitArtifactTable(symbols, manifestText, info.device.isa);
  if (!table)
    return table.takeError();
  objects.push_back(std::move(*table));

  std::string temporary = (path + ".partial").str();
  auto cleanUp = llvm::make_scope_exit([&] { llvm::sys::fs::remove(temporary); });
  if (llvm::Error error = linkSharedLibrary(objects, temporary))
    return error;
  auto image = llvm::MemoryBuffer::getFile(temporary, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!image)
    return fileError(path, image.getError().message());
  std::string code = (*image)->getBuffer().str();
  code.resize((code.size() + AUTOTUNE_CONSTANTS_ALIGNMENT - 1) / AUTOTUNE_CONSTANTS_ALIGNMENT *
                  AUTOTUNE_CONSTANTS_ALIGNMENT,
              '\0');
  AutotuneTrailer trailer = {};
  std::memcpy(trailer.magic, AUTOTUNE_TRAILER_MAGIC, sizeof(trailer.magic));
  trailer.constantsOffset = code.size();
  trailer.constantsBytes = constants.size();
  trailer.checksum = llvm::xxh3_64bits(constants);
  trailer.codeChecksum = llvm::xxh3_64bits(code);

  // A new file, not the linker's: a library that is loaded from `path` right now keeps its own pages.
  std::error_code code1;
  llvm::raw_fd_ostream out(temporary, code1);
  if (code1)
    return fileError(path, code1.message());
  out << code << constants << llvm::StringRef(reinterpret_cast<const char *>(&trailer), sizeof(trailer));
  out.close();
  if (out.has_error()) {
    std::error_code reason = out.error();
    out.clear_error();
    return fileError(path, reason.message());
  }
  if (std::error_code reason = llvm::sys::fs::rename(temporary, path))
    return fileError(path, reason.message());
  return llvm::Error::success();
}

} // namespace autotune
