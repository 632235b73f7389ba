// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inputs of a model that are sequences or optionals, as inputs that are tensors.
#pragma once

#include "frontend/Import.h"

namespace onnx {
class ModelProto;
}

namespace autotune {

/// A sequence input `x` becomes the tensor inputs `x[0]`, `x[1]`, … as far as `options` gives shapes or
/// values for them. An optional input has a value exactly when a shape or value is given for it (or for the
/// first element of the sequence in it). Nodes in front of the graph put the values together under the old
/// names.
void expandSequenceInputs(onnx::ModelProto &model, const ImportOptions &options);

} // namespace autotune
