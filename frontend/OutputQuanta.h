// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which float outputs of a model stand for integers.
#pragma once

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

namespace onnx {
class ModelProto;
}

namespace autotune {

/// The distance of neighbouring values of those float outputs that the model quantises: the scale, when there
/// is one for the whole tensor, of the DequantizeLinear that makes the output or of a QuantizeLinear that
/// reads it. Nodes that only move elements may lie between.
llvm::StringMap<double> outputQuanta(const onnx::ModelProto &model);
/// The same for a file; nothing when it is no ONNX model.
llvm::StringMap<double> readOutputQuanta(llvm::StringRef path);

} // namespace autotune
