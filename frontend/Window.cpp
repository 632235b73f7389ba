// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sliding windows of convolutions and pooling.
#include "frontend/Window.h"

#include "frontend/Emit.h"

#include "llvm/Support/MathExtras.h"

namespace autotune {

namespace {

// Larger values are nonsense and would overflow sizes.
constexpr int64_t kLimit = int64_t(1) << 24;

mlir::LogicalResult checkAttribute(NodeContext &node, llvm::StringRef name, llvm::ArrayRef<int64_t> values,
                                   size_t expected, int64_t least) {
  if (values.size() != expected)
    return node.fail("attribute '" + name + "' has " + llvm::Twine(values.size()) + " values, expected " +
                     llvm::Twine(expected));
  for (int64_t value : values)
    if (value < least || value > kLimit)
      return node.fail("attribute '" + name + "' has the value " + llvm::Twine(value) + ", expected at least " +
                       llvm::Twine(least));
  return mlir::success();
}

enum class AutoPad { NotSet, SameUpper, SameLower, Valid };

mlir::FailureOr<AutoPad> autoPad(NodeContext &node) {
  std::string text = node.stringAttribute("auto_pad", "NOTSET");
  if (text == "NOTSET" || text.empty())
    return AutoPad::NotSet;
  if (text == "SAME_UPPER")
    return AutoPad::SameUpper;
  if (text == "SAME_LOWER")
    return AutoPad::SameLower;
  if (text == "VALID")
    return AutoPad::Valid;
  return node.fail("auto_pad '" + text + "' is not one of NOTSET, SAME_UPPER, SAME_LOWER, VALID");
}

int64_t outputSize(int64_t input, int64_t extent, int64_t stride, int64_t low, int64_t high, bool ceilMode) {
  int64_t room = input + low + high - extent;
  if (room < 0)
    return 0;
  int64_t output = (ceilMode ? llvm::divideCeil(room, stride) : room / stride) + 1;
  // A window that would start in the end padding does not count.
  if (ceilMode && (output - 1) * stride >= input + low)
    --output;
  return output;
}

} // namespace

mlir::FailureOr<Window> windowOf(NodeContext &node, llvm::ArrayRef<int64_t> spatial, llvm::ArrayRef<int64_t> kernel,
                                 bool ceilMode) {
  size_t rank = spatial.size();
  llvm::SmallVector<int64_t> ones(rank, 1), zeros(2 * rank, 0);
  std::vector<int64_t> strides = node.intsAttribute("strides", ones);
  std::vector<int64_t> dilations = node.intsAttribute("dilations", ones);
  std::vector<int64_t> pads = node.intsAttribute("pads", zeros);
  mlir::FailureOr<AutoPad> mode = autoPad(node);
  if (failed(mode) || failed(checkAttribute(node, "kernel_shape", kernel, rank, 1)) ||
      failed(checkAttribute(node, "strides", strides, rank, 1)) ||
      failed(checkAttribute(node, "dilations", dilations, rank, 1)) ||
      failed(checkAttribute(node, "pads", pads, 2 * rank, 0)))
    return mlir::failure();
  Window window;
  window.kernel.assign(kernel.begin(), kernel.end());
  window.strides.assign(strides.begin(), strides.end());
  window.dilations.assign(dilations.begin(), dilations.end());
  for (size_t i = 0; i < rank; ++i) {
    int64_t extent = (kernel[i] - 1) * dilations[i] + 1;
    int64_t low = pads[i], high = pads[rank + i];
    if (*mode == AutoPad::Valid)
      low = high = 0;
    if (*mode == AutoPad::SameUpper || *mode == AutoPad::SameLower) {
      int64_t output = llvm::divideCeil(spatial[i], strides[i]);
      int64_t total = std::max<int64_t>((output - 1) * strides[i] + extent - spatial[i], 0);
      low = *mode == AutoPad::SameUpper ? total / 2 : total - total / 2;
      high = total - low;
    }
    int64_t output = outputSize(spatial[i], extent, strides[i], low, high, ceilMode);
    if (output <= 0)
      return node.fail("the window of size " + llvm::Twine(extent) + " does not fit into the padded input " +
                       shapeText(spatial));
    window.output.push_back(output);
    window.padLow.push_back(low);
    window.modelPadHigh.push_back(high);
    window.padHigh.push_back(std::max<int64_t>((output - 1) * strides[i] + extent - spatial[i] - low, 0));
  }
  return window;
}

Shape withLeadingZeros(llvm::ArrayRef<int64_t> spatial) {
  Shape result(2, 0);
  result.append(spatial.begin(), spatial.end());
  return result;
}

} // namespace autotune
