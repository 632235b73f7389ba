// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A model file imported for each profile that it is to be compiled for.
#pragma once

#include "frontend/TensorFolder.h"
#include "schedule/Graph.h"
#include "tools/Config.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include "llvm/ADT/StringMap.h"

#include <memory>
#include <string>
#include <vector>

namespace autotune {

struct ImportedProfile {
  mlir::OwningOpRef<mlir::ModuleOp> module; // operators are numbered
  Graph graph;
};

struct ImportedModel {
  std::string path;
  std::string name; // the file's name without its ending
  std::string
      content; // hash of the file and of the bound shapes: the same model, compiled for the same shapes
  std::unique_ptr<mlir::MLIRContext> context;
  std::vector<ImportedProfile> profiles; // never empty
  llvm::StringMap<double> outputQuanta;  // of float outputs that stand for integers
};

/// The name that results and records of a model file go by.
std::string modelName(llvm::StringRef path);

/// Imports `path` with the shapes of the configuration, and where it gives none, with those of `tensors`.
llvm::Expected<ImportedModel> importForTarget(const std::string &path, const TargetConfig &target,
                                              const std::vector<HostTensor> &tensors = {});

} // namespace autotune
