// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every pass is registered under its name and is tested by a .mlir file of that name.
#include "passes/Passes.h"

#include "mlir/Pass/PassRegistry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

using namespace autotune;

TEST(Passes, HaveTheirNamesAndTheirTests) {
  registerAutotunePasses();
  for (std::string name : {"extract-graph", "apply-layout", "outline-kernels", "place-buffers", "tile-kernel",
                           "vectorize-kernel", "lower-kernel"}) {
    EXPECT_NE(mlir::PassInfo::lookup("autotune-" + name), nullptr) << name;
    std::replace(name.begin(), name.end(), '-', '_');
    EXPECT_TRUE(std::filesystem::exists(TEST_PASSES_DIR "/" + name + ".mlir")) << name;
  }
}
