// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inputs and expected outputs of a case of the ONNX test data, whatever kind of value they are.
#pragma once

#include "frontend/TensorFolder.h"

namespace onnx {
class ModelProto;
}

namespace autotune {

/// The elements of a sequence `x` are tensors `x[0]`, `x[1]`, …; an optional without a value is nothing.
struct DataSet {
  std::vector<HostTensor> inputs; // with the model's names
  std::vector<std::string> files; // of each input; empty: no file of its own
  std::vector<HostTensor> outputs;
};

/// Reads input_0.pb, … and output_0.pb, … in `folder` as the model declares them.
llvm::Expected<DataSet> readDataSet(const std::string &folder, const onnx::ModelProto &model);

} // namespace autotune
