// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors in files: NumPy .npy, ONNX .pb, and folders of them.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace onnx {
class TensorProto;
}

namespace autotune {

/// A dense tensor in row-major order.
struct HostTensor {
  std::string name;
  std::string dtype;  // MLIR's spelling: f32, ui8, i1 (one byte), …
  std::vector<int64_t> shape;
  std::vector<char> bytes;
};

struct TensorFolder {
  std::vector<HostTensor> inputs;
  std::vector<HostTensor> outputs;  // empty: the folder holds none
};

/// Reads a folder with `manifest.json` (entries name, file, dtype, shape under inputs and outputs), or an ONNX
/// `test_data_set_N` folder (input_<i>.pb, output_<i>.pb). Shape and dtype of each file must be those of its entry.
llvm::Expected<TensorFolder> readTensorFolder(llvm::StringRef folder);

/// Writes `input_<i>.npy`, `output_<i>.npy` and the manifest, which comes last. The folder is created.
llvm::Error writeTensorFolder(llvm::StringRef folder, const TensorFolder &tensors);

/// Reads one .npy or .pb file by its ending.
llvm::Expected<HostTensor> readTensorFile(llvm::StringRef path);

/// Versions 1 to 3; Fortran order is turned into row-major order. Big-endian data and Python objects are refused.
llvm::Expected<HostTensor> readNpy(llvm::StringRef path);
/// bf16 is written as the unsigned 16-bit integers of its bits, since NumPy lacks the type.
llvm::Error writeNpy(llvm::StringRef path, const HostTensor &tensor);

llvm::Expected<HostTensor> readTensorProtoFile(llvm::StringRef path);
llvm::Expected<HostTensor> toHostTensor(const onnx::TensorProto &proto);
llvm::Error writeTensorProtoFile(llvm::StringRef path, const HostTensor &tensor);

} // namespace autotune
