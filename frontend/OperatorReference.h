// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operators that models may hold, as a page for people.
#pragma once

#include <string>

namespace autotune {

/// Markdown made from the table of operators and from what libonnx knows of them: for each operator its versions,
/// element types and limits; the operators that ONNX defines as functions of others; those that are refused.
std::string operatorReference();

} // namespace autotune
