// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// make_corpus FOLDER FILE.onnxtxt …: writes each model that is given as text as FOLDER/FILE.onnx, and
// FOLDER/list with the paths of all, separated by commas.
#include "test/unit/frontend/OnnxText.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  std::string folder = argc > 1 ? argv[1] : "";
  if (folder.empty() || llvm::sys::fs::create_directories(folder)) {
    llvm::errs() << "usage: make_corpus FOLDER FILE.onnxtxt …\n";
    return 2;
  }
  std::error_code code;
  llvm::raw_fd_ostream list(folder + "/list", code);
  for (int i = 2; i < argc; ++i) {
    llvm::Expected<onnx::ModelProto> model = autotune::test::readOnnxText(argv[i]);
    if (!model) {
      llvm::errs() << llvm::toString(model.takeError()) << "\n";
      return 1;
    }
    std::string path = folder + "/" + llvm::sys::path::stem(argv[i]).str() + ".onnx";
    llvm::raw_fd_ostream(path, code) << model->SerializeAsString();
    list << (i > 2 ? "," : "") << path;
  }
  return 0;
}
