// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators whose result has a shape that depends on the data: Unique and NonMaxSuppression of what is known
// at import.
#include "frontend/Emit.h"
#include "frontend/OperatorTable.h"

#include <algorithm>
#include <numeric>

namespace autotune {

namespace {

/// Slices of a known tensor along one axis, as rows that can be compared.
class Slices {
public:
  Slices(const ConstantTensor &tensor, int64_t axis) : tensor(tensor) {
    llvm::ArrayRef<int64_t> shape = tensor.shape();
    outer = elementCount(shape.take_front(axis));
    count = shape[axis];
    inner = elementCount(shape.drop_front(axis + 1));
  }

  int64_t size() const { return count; }
  /// -1, 0 or 1
  int compare(int64_t a, int64_t b) const {
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i)
        if (int order = compareElements((o * count + a) * inner + i, (o * count + b) * inner + i))
          return order;
    return 0;
  }

private:
  int compareElements(int64_t a, int64_t b) const {
    auto order = [](auto x, auto y) { return x < y ? -1 : y < x ? 1 : 0; };
    if (isFloat(tensor.type()))
      return order(tensor.floatAt(a), tensor.floatAt(b));
    if (tensor.type() == ElementType::U64)
      return order(static_cast<uint64_t>(tensor.intAt(a)), static_cast<uint64_t>(tensor.intAt(b)));
    return order(tensor.intAt(a), tensor.intAt(b));
  }

  const ConstantTensor &tensor;
  int64_t outer, count, inner;
};

struct Uniques {
  std::vector<int64_t> first;   // where each unique slice occurs first
  std::vector<int64_t> inverse; // which unique slice each slice is
  std::vector<int64_t> counts;
};

Uniques findUniques(const Slices &slices, bool sorted) {
  std::vector<int64_t> order(slices.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::stable_sort(order, [&](int64_t a, int64_t b) { return slices.compare(a, b) < 0; });
  Uniques result;
  result.inverse.resize(slices.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || slices.compare(order[i - 1], order[i]) != 0) {
      result.first.push_back(order[i]);
      result.counts.push_back(0);
    }
    ++result.counts.back();
    result.inverse[order[i]] = static_cast<int64_t>(result.first.size()) - 1;
  }
  if (sorted)
    return result;
  // In the order of their first occurrence.
  std::vector<int64_t> rank(result.first.size()), place(rank.size());
  std::iota(rank.begin(), rank.end(), 0);
  llvm::sort(rank, [&](int64_t a, int64_t b) { return result.first[a] < result.first[b]; });
  Uniques ordered;
  for (size_t i = 0; i < rank.size(); ++i) {
    ordered.first.push_back(result.first[rank[i]]);
    ordered.counts.push_back(result.counts[rank[i]]);
    place[rank[i]] = static_cast<int64_t>(i);
  }
  for (int64_t which : result.inverse)
    ordered.inverse.push_back(place[which]);
  return ordered;
}

/// The slices at these positions.
ConstantTensor picked(const ConstantTensor &tensor, int64_t axis, llvm::ArrayRef<int64_t> positions) {
  Shape shape(tensor.shape());
  int64_t outer = elementCount(llvm::ArrayRef<int64_t>(shape).take_front(axis)), dim = shape[axis];
  int64_t inner = elementCount(llvm::ArrayRef<int64_t>(shape).drop_front(axis + 1));
  shape[axis] = positions.size();
  unsigned width = byteSize(tensor.type());
  std::vector<char> bytes;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t position : positions)
      for (int64_t i = 0; i < inner; ++i) {
        const char *element = tensor.element((o * dim + position) * inner + i);
        bytes.insert(bytes.end(), element, element + width);
      }
  return ConstantTensor::own(tensor.type(), shape, std::move(bytes));
}

mlir::LogicalResult buildUnique(NodeContext &node) {
  const ConstantTensor *given = node.constant(0);
  if (!given)
    return node.fail("the shape of the result depends on the data");
  bool flat = !node.hasAttribute("axis");
  int64_t axis = flat ? 0 : node.axisAttribute("axis", 0, node.rank(0));
  bool sorted = node.intAttribute("sorted", 1) != 0;
  if (node.failedAlready())
    return mlir::failure();
  ConstantTensor tensor = flat ? given->reshaped({given->size()}) : *given;
  Uniques uniques = findUniques(Slices(tensor, axis), sorted);
  node.setResult(0, picked(tensor, axis, uniques.first));
  node.setResult(1, ConstantTensor::ints(uniques.first));
  node.setResult(2, ConstantTensor::ints(uniques.inverse));
  node.setResult(3, ConstantTensor::ints(uniques.counts));
  return mlir::success();
}

struct Box {
  double top, left, bottom, right;
  double area() const { return (bottom - top) * (right - left); }
};

/// Corners in any order, or centre and size.
Box boxAt(const ConstantTensor &boxes, int64_t index, bool isCentre) {
  double v[4];
  for (int64_t k = 0; k < 4; ++k)
    v[k] = boxes.floatAt(4 * index + k);
  if (isCentre)
    return {v[1] - v[3] / 2, v[0] - v[2] / 2, v[1] + v[3] / 2, v[0] + v[2] / 2};
  return {std::min(v[0], v[2]), std::min(v[1], v[3]), std::max(v[0], v[2]), std::max(v[1], v[3])};
}

double overlap(const Box &a, const Box &b) {
  double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  double width = std::min(a.right, b.right) - std::max(a.left, b.left);
  if (height <= 0 || width <= 0 || a.area() <= 0 || b.area() <= 0)
    return 0;
  return height * width / (a.area() + b.area() - height * width);
}

struct Suppression {
  int64_t mostBoxes = 0;
  double mostOverlap = 0;
  std::optional<double> leastScore;
  bool isCentre = false;
};

/// The boxes of one class that stay, best first.
std::vector<int64_t> selected(llvm::ArrayRef<Box> boxes, llvm::ArrayRef<double> scores,
                              const Suppression &options) {
  std::vector<int64_t> candidates;
  for (int64_t i = 0; i < static_cast<int64_t>(boxes.size()); ++i)
    if (!options.leastScore || scores[i] > *options.leastScore)
      candidates.push_back(i);
  llvm::stable_sort(candidates, [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
  std::vector<int64_t> kept;
  for (int64_t candidate : candidates) {
    if (static_cast<int64_t>(kept.size()) >= options.mostBoxes)
      break;
    bool isFree = llvm::all_of(
        kept, [&](int64_t other) { return overlap(boxes[candidate], boxes[other]) <= options.mostOverlap; });
    if (isFree)
      kept.push_back(candidate);
  }
  return kept;
}

/// Rows of (batch, class, box).
mlir::LogicalResult buildNonMaxSuppression(NodeContext &node) {
  for (size_t i = 0; i < node.inputCount(); ++i)
    if (node.hasInput(i) && !node.constant(i))
      return node.fail("the shape of the result depends on the data (input " + llvm::Twine(i) + ")");
  const ConstantTensor &boxes = *node.constant(0), &scores = *node.constant(1);
  if (boxes.rank() != 3 || scores.rank() != 3 || boxes.shape()[2] != 4 ||
      boxes.shape()[0] != scores.shape()[0] || boxes.shape()[1] != scores.shape()[2])
    return node.fail("boxes " + shapeText(boxes.shape()) + " and scores " + shapeText(scores.shape()) +
                     " do not fit");
  for (size_t i = 2; i < 5; ++i)
    if (node.hasInput(i) && node.constant(i)->size() != 1)
      return node.fail("input " + llvm::Twine(i) + " is not a scalar");
  Suppression options;
  options.mostBoxes = node.hasInput(2) ? node.constant(2)->intAt(0) : 0;
  options.mostOverlap = node.hasInput(3) ? node.constant(3)->floatAt(0) : 0;
  if (node.hasInput(4))
    options.leastScore = node.constant(4)->floatAt(0);
  options.isCentre = node.intAttribute("center_point_box", 0) != 0;
  int64_t count = boxes.shape()[1], classes = scores.shape()[1];
  std::vector<int64_t> rows;
  for (int64_t batch = 0; batch < boxes.shape()[0]; ++batch) {
    std::vector<Box> all;
    for (int64_t i = 0; i < count; ++i)
      all.push_back(boxAt(boxes, batch * count + i, options.isCentre));
    for (int64_t c = 0; c < classes; ++c) {
      std::vector<double> own;
      for (int64_t i = 0; i < count; ++i)
        own.push_back(scores.floatAt((batch * classes + c) * count + i));
      for (int64_t box : selected(all, own, options))
        rows.insert(rows.end(), {batch, c, box});
    }
  }
  node.setResult(0, ConstantTensor::ints(rows).reshaped({static_cast<int64_t>(rows.size()) / 3, 3}));
  return mlir::success();
}

constexpr OperatorEntry kOperators[] = {
    {"", "NonMaxSuppression", 10, 2, 5, buildNonMaxSuppression, "boxes and scores known at import"},
    {"", "Unique", 11, 1, 1, buildUnique, "input known at import"},
};

} // namespace

llvm::ArrayRef<OperatorEntry> knownDataOperators() { return kOperators; }

} // namespace autotune
