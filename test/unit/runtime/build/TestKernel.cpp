// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TestKernel.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

#include "gtest/gtest.h"

#include <dlfcn.h>
#include <random>

namespace autotune::test {

KernelCompiler &compiler() {
  static std::unique_ptr<KernelCompiler> instance = llvm::cantFail(KernelCompiler::create(Isa::Avx2));
  return *instance;
}

LoadedKernel::LoadedKernel(llvm::StringRef text, const std::optional<LoopNest> &nest) {
  llvm::Expected<ObjectCode> object = compiler().compile(text, nest, "entry");
  if (!object) {
    ADD_FAILURE() << llvm::toString(object.takeError());
    return;
  }
  llvm::SmallString<128> path;
  if (llvm::sys::fs::createTemporaryFile("autotune-test", "so", path)) {
    ADD_FAILURE() << "no temporary file";
    return;
  }
  if (llvm::Error error = linkSharedLibrary({std::move(*object)}, path))
    ADD_FAILURE() << llvm::toString(std::move(error));
  else if (!(library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)))
    ADD_FAILURE() << dlerror();
  else
    entry = reinterpret_cast<decltype(entry)>(dlsym(library, "entry"));
  llvm::sys::fs::remove(path);
}

LoadedKernel::~LoadedKernel() {
  if (library)
    dlclose(library);
}

void LoadedKernel::run(const std::vector<float *> &buffers, int64_t begin, int64_t end) const {
  std::vector<void *> args(buffers.begin(), buffers.end());
  entry(args.data(), begin, end);
}

std::vector<float> numbers(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float &value : values)
    value = float(random() % 2048) / 1024.0f - 1.0f;
  return values;
}

std::string GenericKernel::text() const {
  std::string text;
  llvm::raw_string_ostream s(text);
  size_t inputs = types.size() - 1;
  const std::string &out = types.back();
  s << "func.func @kernel(";
  for (size_t i = 0; i < inputs; ++i)
    s << llvm::formatv("%a{0}: tensor<{1}>, ", i, types[i]);
  s << llvm::formatv("%dest: tensor<{0}>) -> tensor<{0}> {{\n", out);
  std::string dest = "%dest";
  if (!init.empty()) {
    s << llvm::formatv("%init = arith.constant {0} : f32\n%fill = linalg.fill ins(%init : f32) outs(%dest : "
                       "tensor<{1}>) -> tensor<{1}>\n",
                       init, out);
    dest = "%fill";
  }
  s << "%r = linalg.generic {indexing_maps = [";
  llvm::interleaveComma(maps, s, [&](const std::string &map) { s << "affine_map<" << map << ">"; });
  s << "], iterator_types = [";
  llvm::interleaveComma(iterators, s,
                        [&](char kind) { s << (kind == 'p' ? "\"parallel\"" : "\"reduction\""); });
  s << "]} ins(";
  llvm::interleaveComma(llvm::seq<size_t>(0, inputs), s, [&](size_t i) { s << "%a" << i; });
  s << " : ";
  llvm::interleaveComma(llvm::ArrayRef(types).drop_back(), s,
                        [&](const std::string &type) { s << "tensor<" << type << ">"; });
  s << llvm::formatv(") outs({0} : tensor<{1}>) {{\n^bb0(", dest, out);
  for (size_t i = 0; i < inputs; ++i)
    s << "%in" << i << ": f32, ";
  s << "%out: f32):\n" << body << "\n} -> tensor<" << out << ">\nreturn %r : tensor<" << out << ">\n}\n";
  return text;
}

std::string matmulText(int64_t m, int64_t n, int64_t k, bool relu) {
  GenericKernel product{
      {llvm::formatv("{0}x{1}xf32", m, k), llvm::formatv("{0}x{1}xf32", k, n),
       llvm::formatv("{0}x{1}xf32", m, n)},
      {"(m, n, k) -> (m, k)", "(m, n, k) -> (k, n)", "(m, n, k) -> (m, n)"},
      "ppr",
      "0.0",
      "%p = arith.mulf %in0, %in1 : f32\n%s = arith.addf %out, %p : f32\nlinalg.yield %s : f32"};
  std::string text = product.text();
  if (!relu)
    return text;
  // The product goes to a tensor of its own and the tail to the destination.
  std::string type = llvm::formatv("tensor<{0}x{1}xf32>", m, n);
  std::string empty = "outs(%empty : " + type;
  size_t fill = text.find("outs(%dest");
  text.replace(fill, std::string("outs(%dest : ").size() + type.size(), empty);
  text.insert(text.find("%init ="), "%empty = tensor.empty() : " + type + "\n");
  std::string tail = llvm::formatv(
      "%z = linalg.generic {{indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], "
      "iterator_types = [\"parallel\", \"parallel\"]} ins(%r : {0}) outs(%dest : {0}) {{\n^bb0(%x: f32, %o: "
      "f32):\n%y = arith.maximumf %x, %init : f32\nlinalg.yield %y : f32\n} -> {0}\nreturn %z : {0}\n}\n",
      type);
  text.resize(text.find("return %r"));
  return text + tail;
}

} // namespace autotune::test
