// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Records and temporary folders for tests.
#pragma once

#include "knowledge_base/Record.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

#include <fstream>
#include <iterator>

namespace autotune {

inline constexpr llvm::StringLiteral kDevice = "amd-25-1-avx2-l1_32k-l2_512k";

inline Workload matmul(int64_t m, int64_t n, int64_t k) {
  Workload workload;
  workload.kind = "matmul";
  workload.opClass = OpClass::Contraction;
  workload.dims = {{m, false}, {n, false}, {k, true}};
  workload.inputs = {{"f32", {m, k}, {0, 0}, {{{0, 1}}, {{2, 1}}}, false},
                     {"f32", {k, n}, {0, 0}, {{{2, 1}}, {{1, 1}}}, true}};
  workload.output = {"f32", {m, n}, {0, 0}, {{{0, 1}}, {{1, 1}}}, false};
  workload.epilogue = {"arith.addf"};
  return workload;
}

/// Fills what every record has.
inline void fillBase(RecordBase &record, double speedup = 1.5) {
  record.deviceKey = kDevice.str();
  record.outcome = SearchOutcome::Improved;
  record.tuned = {1e6 / speedup, 1234.5, 20};
  record.untuned = {1e6, 2000, 20};
  record.speedup = {speedup, speedup - 0.01, speedup + 0.01};
  record.check = {"contraction", {{"max_error", 1.25e-7}, {"bound", 3e-6}}};
  record.provenance = {"0.1.0", {"19.1.7", 3}, "2026-11-30T08:41:06Z", 18446744073709551615u, 64};
}

inline OperatorRecord operatorRecord(double speedup = 1.5, const Workload &workload = matmul(64, 64, 64)) {
  OperatorRecord record(workload);
  fillBase(record, speedup);
  record.schedule = {{{"rows", 6}, {"columns", 16}}};
  record.untunedSchedule = {{{"rows", 4}, {"columns", 8}}};
  return record;
}

inline SubgraphRecord subgraphRecord() {
  SubgraphRecord record;
  record.name = "conv-chain";
  record.keyText = "region: conv2d -> elementwise\nthreads: 1\n";
  fillBase(record);
  record.decisions = {{"channel_block", "8"}, {"algorithm", "direct"}};
  record.alternatives = {{{{"channel_block", "0"}, {"algorithm", "direct"}}, {1e6, 10, 5}},
                         {{{"channel_block", "8"}, {"algorithm", "direct"}}, {7e5, 10, 5}}};
  return record;
}

inline ModelRecord modelRecord() {
  ModelRecord record;
  record.name = "mein Modell \"ä\\\"";
  record.keyText = "content: 0123456789abcdef\nthreads: 2\n";
  fillBase(record);
  record.partition = "format: 1\nsubgraphs:\n  - channel_block: 8\n    algorithm: direct\n    operators:\n"
                     "      - 0  # conv2d \"conv1\" 1x64x112x112\n";
  record.schedules = {{matmul(1, 2, 3).key(), {{{"rows", 6}}}}, {matmul(4, 5, 6).key(), {}}};
  return record;
}

/// A folder that goes with the test.
class TemporaryFolder {
public:
  TemporaryFolder() { llvm::sys::fs::createUniqueDirectory("autotune-test", folder); }
  ~TemporaryFolder() { llvm::sys::fs::remove_directories(folder); }
  std::string path(const std::string &name = "repository") const { return (folder + "/" + name).str(); }

private:
  llvm::SmallString<128> folder;
};

inline std::string readText(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline void writeText(const std::string &path, const std::string &text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

} // namespace autotune
