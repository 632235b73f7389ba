// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ONNX TensorProto to and from plain tensors.
#pragma once

#include "frontend/ConstantTensor.h"

#include "llvm/Support/Error.h"

namespace onnx {
class TensorProto;
}

namespace autotune {

/// The tensor's value. Raw data is referred to, not copied: `proto` must outlive the result. Data in other files is
/// read from `externalFolder` (empty: external data is an error); its path may not leave that folder.
llvm::Expected<ConstantTensor> toConstant(const onnx::TensorProto &proto, llvm::StringRef externalFolder);

void toProto(const ConstantTensor &tensor, llvm::StringRef name, onnx::TensorProto &proto);

} // namespace autotune
