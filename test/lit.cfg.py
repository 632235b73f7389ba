# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# IR tests: every .mlir file below this folder, and every model written as text.
import os
import lit.formats

config.name = "autotune"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".onnxtxt"]
config.excludes = ["Inputs", "models", "unit", "corpus"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.build_dir, "lit")
config.environment["PATH"] = os.pathsep.join(
    [config.tools_dir, config.test_tools_dir, config.llvm_bin_dir, config.environment["PATH"]])
config.environment["FILECHECK_OPTS"] = "-enable-var-scope"
