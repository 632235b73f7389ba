// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Takes the weights out of an ONNX file before it is parsed.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace autotune {

/// Parsing copies every field. Weights are most of a file, and are copied soon enough when they become
/// attributes.
struct SplitModel {
  /// The serialised model; of the raw data of large initialisers of its graph, one byte is there.
  std::string bytes;
  /// For each initialiser of the graph, in order: the raw data that was taken out, within the file; or
  /// nothing.
  std::vector<llvm::StringRef> rawData;
};

/// A file that is no valid message is returned whole, for the parser to refuse.
SplitModel splitModel(llvm::StringRef file);

} // namespace autotune
