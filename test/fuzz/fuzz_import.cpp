// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libFuzzer target: any bytes give a module or one line of error.
#include "test/fuzz/ImportBytes.h"
#include "test/fuzz/ModelMutator.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

// What an input did, for the fuzzer to keep those that did something new: a counter for each kind of error
// and for each kind of operation, number of loops and type that came out.
constexpr size_t kCounters = 1 << 14;
// Not static: nobody here reads them.
__attribute__((section("__libfuzzer_extra_counters"))) uint8_t counters[kCounters];

static void record(llvm::StringRef what) { counters[llvm::xxh3_64bits(what) % kCounters] = 1; }

/// The message without the names and numbers of this model.
static std::string kindOf(llvm::StringRef error) {
  std::string kind;
  bool quoted = false;
  for (char c : error) {
    quoted ^= c == '\'';
    if (!quoted && !llvm::isDigit(c))
      kind += c;
  }
  return kind;
}

static void recordOperation(mlir::Operation *op) {
  std::string what = op->getName().getStringRef().str() + " " + std::to_string(op->getNumOperands());
  for (mlir::Type type : op->getResultTypes())
    if (auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type))
      what += " " + std::to_string(tensor.getRank()) + " " + std::to_string(tensor.getElementTypeBitWidth());
  record(what);
}

static double processorSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // The fuzzer's own time-out counts what a busy machine takes; this one only what the input takes.
  constexpr double kLongestSeconds = 5;
  double start = processorSeconds();
  auto visit = [](mlir::ModuleOp module) { module.walk(recordOperation); };
  std::string error = autotune::test::importBytes({reinterpret_cast<const char *>(data), size}, visit);
  record(kindOf(error));
  // An imported function that is not valid is a fault of the importer, not of the file.
  bool ourFault = error.find("please report this") != std::string::npos;
  if (double seconds = processorSeconds() - start; seconds > kLongestSeconds) {
    std::fprintf(stderr, "took %.1f s\n", seconds);
    std::abort();
  }
  if (ourFault || error.find('\n') != std::string::npos) {
    std::fprintf(stderr, "%s\n", error.c_str());
    std::abort();
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  std::string bytes(reinterpret_cast<const char *>(data), size);
  // Now and then the file itself is damaged, not the model in it.
  bool damage = seed % 16 == 0;
  if (damage || !autotune::test::mutateModel(bytes, seed) || bytes.size() > maxSize)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}
