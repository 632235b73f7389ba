// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/unit/driver/RunText.h"

#include "tools/CompileModel.h"
#include "tools/RunModel.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

namespace autotune::test {

llvm::Expected<std::string> writeText(llvm::StringRef text) {
  llvm::SmallString<128> file;
  int descriptor = -1;
  if (std::error_code code = llvm::sys::fs::createTemporaryFile("run_text", "mlir", descriptor, file))
    return llvm::createStringError(code, "temporary file");
  llvm::raw_fd_ostream(descriptor, /*shouldClose=*/true) << text;
  return file.str().str();
}

static llvm::Expected<std::vector<HostTensor>> tryText(llvm::StringRef text,
                                                       const std::vector<HostTensor> &inputs) {
  llvm::Expected<std::string> file = writeText(text);
  if (!file)
    return file.takeError();
  llvm::FileRemover remover(*file);
  Config config;
  config.target.threads = 1;
  CompileOptions options;
  options.ignoreRepository = true;
  auto model = loadOrCompile(*file, config, {}, options);
  if (!model)
    return model.takeError();
  return runModel(*model, 1, inputs);
}

std::vector<HostTensor> runText(llvm::StringRef text, const std::vector<HostTensor> &inputs) {
  llvm::Expected<std::vector<HostTensor>> outputs = tryText(text, inputs);
  if (outputs)
    return std::move(*outputs);
  ADD_FAILURE() << llvm::toString(outputs.takeError());
  return {};
}

} // namespace autotune::test
