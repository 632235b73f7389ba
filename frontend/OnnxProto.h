// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The protobuf classes of ONNX, as Debian's library was built.
#pragma once

#ifndef ONNX_ML
#define ONNX_ML 1
#endif
#ifndef ONNX_NAMESPACE
#define ONNX_NAMESPACE onnx
#endif

#include <onnx/onnx_pb.h>
