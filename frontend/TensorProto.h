// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ONNX TensorProto to and from plain tensors.
#pragma once

#include "frontend/ConstantTensor.h"

#include "llvm/Support/Error.h"

namespace onnx {
class TensorProto;
}

namespace autotune {

class ExternalData;

/// The tensor's value. Raw data is referred to, not copied: `proto` must outlive the result. Data in other
/// files comes from `external` (null: an error).
llvm::Expected<ConstantTensor> toConstant(const onnx::TensorProto &proto, ExternalData *external);

/// The same with raw data that was taken out of `proto`; `owner` keeps it alive.
llvm::Expected<ConstantTensor> toConstant(const onnx::TensorProto &proto, llvm::ArrayRef<char> rawData,
                                          std::shared_ptr<const void> owner);

void toProto(const ConstantTensor &tensor, llvm::StringRef name, onnx::TensorProto &proto);

} // namespace autotune
