// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ONNX's coordinate transformations and filters, https://onnx.ai/onnx/operators/onnx__Resize.html
#include "frontend/Resample.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

namespace autotune {

namespace {

constexpr llvm::StringLiteral kCoordinateModes[] = {
    "half_pixel", "pytorch_half_pixel",   "align_corners",      "asymmetric",
    "tf_half_pixel_for_nn", "tf_crop_and_resize", "half_pixel_symmetric"};
constexpr llvm::StringLiteral kNearestModes[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};

double coordinate(const ResampleAxis &axis, llvm::StringRef mode, int64_t position) {
  double x = static_cast<double>(position), in = static_cast<double>(axis.input);
  double out = static_cast<double>(axis.output);
  if (mode == "asymmetric")
    return x / axis.scale;
  // The size that the scale asks for need not be whole, and is not cut off here.
  if (mode == "align_corners")
    return axis.output == 1 ? 0 : x * (in - 1) / (in * axis.scale - 1);
  if (mode == "pytorch_half_pixel" && axis.output == 1)
    return 0;
  if (mode == "tf_half_pixel_for_nn")
    return (x + 0.5) / axis.scale;
  if (mode == "tf_crop_and_resize") {
    if (axis.output == 1)
      return 0.5 * (axis.roiStart + axis.roiEnd) * (in - 1);
    return axis.roiStart * (in - 1) + x * (axis.roiEnd - axis.roiStart) * (in - 1) / (out - 1);
  }
  if (mode == "half_pixel_symmetric") {
    double adjustment = out / (axis.scale * in);
    return in / 2 * (1 - adjustment) + (x + 0.5) / axis.scale - 0.5;
  }
  return (x + 0.5) / axis.scale - 0.5;
}

double nearestPosition(double x, llvm::StringRef mode) {
  if (mode == "round_prefer_floor")
    return std::ceil(x - 0.5);
  if (mode == "round_prefer_ceil")
    return std::floor(x + 0.5);
  return mode == "floor" ? std::floor(x) : std::ceil(x);
}

double cubicWeight(double distance, double a) {
  double x = std::fabs(distance);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/// The filter around coordinate `x`: the first position and the weights from there on.
int64_t filterAt(double x, double scale, const ResampleOptions &options, std::vector<double> &weights) {
  bool cubic = options.mode == "cubic";
  // Antialiasing widens the filter when shrinking.
  double stretch = options.antialias ? std::min(scale, 1.0) : 1.0;
  double reach = cubic ? 2 : 1;
  int64_t first = static_cast<int64_t>(std::floor(-reach / stretch)) + 1;
  int64_t count = 2 - 2 * first;
  double base = std::floor(x), ratio = x - base;
  weights.clear();
  for (int64_t i = 0; i < count; ++i) {
    double distance = (static_cast<double>(first + i) - ratio) * stretch;
    weights.push_back(cubic ? cubicWeight(distance, options.cubicCoefficient)
                            : std::max(0.0, 1 - std::fabs(distance)));
  }
  return static_cast<int64_t>(base) + first;
}

void normalize(std::vector<double> &weights) {
  double sum = 0;
  for (double weight : weights)
    sum += weight;
  if (sum != 0)
    for (double &weight : weights)
      weight /= sum;
}

} // namespace

double tapCount(const ResampleAxis &axis, const ResampleOptions &options) {
  if (options.mode == "nearest")
    return 1;
  double stretch = options.antialias ? std::min(axis.scale, 1.0) : 1.0;
  return 2 * std::ceil((options.mode == "cubic" ? 2 : 1) / stretch);
}

bool isCoordinateMode(llvm::StringRef mode) { return llvm::is_contained(kCoordinateModes, mode); }
bool isNearestMode(llvm::StringRef mode) { return llvm::is_contained(kNearestModes, mode); }

ResampleTable resampleTable(const ResampleAxis &axis, const ResampleOptions &options) {
  ResampleTable table;
  auto clamped = [&](double position) {
    // Also right for NaN, which compares with nothing.
    return position > 0 ? static_cast<int64_t>(std::min(position, static_cast<double>(axis.input - 1))) : 0;
  };
  std::vector<double> weights;
  for (int64_t o = 0; o < axis.output; ++o) {
    double x = coordinate(axis, options.coordinates, o);
    bool outside = options.coordinates == "tf_crop_and_resize" && (x < 0 || x > static_cast<double>(axis.input - 1));
    table.outside.push_back(outside);
    // A region may be anywhere; what is far outside only needs to stay an integer.
    x = std::isnan(x) ? 0 : std::clamp(x, -0x1p40, 0x1p40);
    if (options.mode == "nearest") {
      table.positions.push_back(clamped(nearestPosition(x, options.nearest)));
      table.weights.push_back(1);
      continue;
    }
    // Beyond the border linear filters see one element only: exactly that, not a sum of two equal parts.
    if (options.mode == "linear" && !options.antialias && !options.excludeOutside)
      x = std::clamp(x, 0.0, static_cast<double>(axis.input - 1));
    int64_t first = filterAt(x, axis.scale, options, weights);
    if (options.excludeOutside)
      for (size_t t = 0; t < weights.size(); ++t)
        if (first + static_cast<int64_t>(t) < 0 || first + static_cast<int64_t>(t) >= axis.input)
          weights[t] = 0;
    if (options.excludeOutside || options.antialias)
      normalize(weights);
    table.taps = weights.size();
    for (size_t t = 0; t < weights.size(); ++t) {
      table.positions.push_back(clamped(static_cast<double>(first + static_cast<int64_t>(t))));
      table.weights.push_back(outside ? 0 : static_cast<float>(weights[t]));
    }
  }
  return table;
}

} // namespace autotune
