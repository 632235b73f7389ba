// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TfIdfVectorizer of integers: how often each n-gram of a fixed pool occurs in each row.
#include "frontend/OperatorTable.h"
#include "frontend/Scalar.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace autotune {

namespace arith = mlir::arith;
using mlir::Value;
using mlir::utils::IteratorType;

namespace {

/// The n-grams of one length.
struct Grams {
  int64_t length;
  std::vector<std::vector<int64_t>> columns; // column j has item j of each
  std::vector<int64_t> outputs;              // where each is counted
  std::vector<float> weights;
};

struct Vectorizer {
  std::vector<Grams> grams;
  int64_t outputs = 0, maxSkip = 0;
  std::string mode;
};

mlir::FailureOr<Vectorizer> describe(NodeContext &node) {
  Vectorizer vectorizer;
  vectorizer.mode = node.stringAttribute("mode", "");
  vectorizer.maxSkip = node.intAttribute("max_skip_count", 0);
  int64_t shortest = node.intAttribute("min_gram_length", 1),
          longest = node.intAttribute("max_gram_length", 1);
  std::vector<int64_t> starts = node.intsAttribute("ngram_counts"),
                       places = node.intsAttribute("ngram_indexes");
  std::vector<int64_t> pool = node.intsAttribute("pool_int64s");
  std::vector<float> weights = node.floatsAttribute("weights");
  if (node.hasAttribute("pool_strings"))
    return node.fail("the pool holds strings, which are not supported");
  if (vectorizer.mode != "TF" && vectorizer.mode != "IDF" && vectorizer.mode != "TFIDF")
    return node.fail("mode '" + vectorizer.mode + "' is not TF, IDF or TFIDF");
  if (vectorizer.maxSkip < 0 || vectorizer.maxSkip > 1 << 16 || shortest < 1 || longest < shortest ||
      (!weights.empty() && weights.size() != places.size()))
    return node.fail("max_skip_count, min_gram_length, max_gram_length or weights are not valid");
  for (int64_t place : places) {
    if (place < 0 || place > 1 << 28)
      return node.fail("ngram_indexes has the value " + llvm::Twine(place));
    vectorizer.outputs = std::max(vectorizer.outputs, place + 1);
  }
  size_t next = 0;
  for (size_t i = 0; i < starts.size(); ++i) {
    int64_t length = i + 1, start = starts[i];
    int64_t end = i + 1 < starts.size() ? starts[i + 1] : static_cast<int64_t>(pool.size());
    if (start < 0 || end < start || end > static_cast<int64_t>(pool.size()) || (end - start) % length != 0)
      return node.fail("ngram_counts do not fit a pool of " + llvm::Twine(pool.size()));
    Grams grams{length, std::vector<std::vector<int64_t>>(length), {}, {}};
    for (int64_t at = start; at < end; at += length, ++next) {
      if (next >= places.size())
        return node.fail("ngram_indexes has fewer entries than the pool has n-grams");
      for (int64_t j = 0; j < length; ++j)
        grams.columns[j].push_back(pool[at + j]);
      grams.outputs.push_back(places[next]);
      grams.weights.push_back(weights.empty() ? 1 : weights[next]);
    }
    if (length >= shortest && length <= longest && !grams.outputs.empty())
      vectorizer.grams.push_back(std::move(grams));
  }
  if (vectorizer.outputs == 0)
    return node.fail("ngram_indexes is empty");
  return vectorizer;
}

/// [rows, n-grams]: occurrences with each distance between items up to the greatest skip, added to `counts`.
Value counted(NodeContext &node, Value items, const Grams &grams, int64_t distance, Value counts) {
  Builder &b = node.b;
  int64_t rows = shapeOf(items)[0], windows = shapeOf(items)[1] - (grams.length - 1) * distance;
  if (windows < 1)
    return counts;
  mlir::AffineExpr row = b.getAffineDimExpr(0), gram = b.getAffineDimExpr(1), window = b.getAffineDimExpr(2);
  llvm::SmallVector<Value> inputs;
  llvm::SmallVector<mlir::AffineMap> maps;
  for (int64_t j = 0; j < grams.length; ++j) {
    inputs.push_back(sliceOf(b, items, {0, j * distance}, {rows, windows}, {1, 1}));
    maps.push_back(mlir::AffineMap::get(3, 0, {row, window}, b.getContext()));
    inputs.push_back(node.materialize(ConstantTensor::ints(grams.columns[j])));
    maps.push_back(mlir::AffineMap::get(3, 0, gram));
  }
  maps.push_back(mlir::AffineMap::get(3, 0, {row, gram}, b.getContext()));
  auto build = [&](mlir::OpBuilder &nested, mlir::Location location, mlir::ValueRange v) {
    Builder inner(location, nested);
    Value hit;
    for (int64_t j = 0; j < grams.length; ++j) {
      Value same = inner.create<arith::CmpIOp>(arith::CmpIPredicate::eq, v[2 * j], v[2 * j + 1]);
      hit = hit ? inner.create<arith::AndIOp>(hit, same).getResult() : same;
    }
    Value more = scalar::add(inner, v.back(), scalar::constantLike(inner, v.back(), 1));
    inner.create<mlir::linalg::YieldOp>(Value(inner.create<arith::SelectOp>(hit, more, v.back())));
  };
  llvm::SmallVector<IteratorType> loops = {IteratorType::parallel, IteratorType::parallel,
                                           IteratorType::reduction};
  return b
      .create<mlir::linalg::GenericOp>(mlir::TypeRange{counts.getType()}, inputs, mlir::ValueRange{counts},
                                       maps, loops, build)
      .getResult(0);
}

/// Counts in the order of the pool to the columns of the result, weighted; columns without n-gram are 0.
Value placed(NodeContext &node, Value counts, const Vectorizer &vectorizer) {
  Builder &b = node.b;
  std::vector<int64_t> source(vectorizer.outputs, -1);
  std::vector<float> weights(vectorizer.outputs, 0);
  int64_t next = 0;
  for (const Grams &grams : vectorizer.grams)
    for (auto [output, weight] : llvm::zip(grams.outputs, grams.weights)) {
      source[output] = next++;
      weights[output] = weight;
    }
  Shape shape = {shapeOf(counts)[0], vectorizer.outputs};
  Value sources = node.materialize(ConstantTensor::ints(source));
  Value factors = node.materialize(ConstantTensor::floats(vectorizer.outputs, weights));
  return elementwise(
      b, shape, b.getF32Type(), {alongAxis(b, sources, 1, 2), alongAxis(b, factors, 1, 2)},
      [&](Builder &inner, mlir::ValueRange v) -> Value {
        Value zero = scalar::constantLike(inner, v[0], 0), none = scalar::constantLike(inner, v[1], 0);
        Value exists = inner.create<arith::CmpIOp>(arith::CmpIPredicate::sge, v[0], zero);
        Value at =
            inner.create<arith::IndexCastOp>(inner.getIndexType(), inner.create<arith::MaxSIOp>(v[0], zero));
        Value row = inner.create<mlir::linalg::IndexOp>(0);
        Value count = inner.create<mlir::tensor::ExtractOp>(counts, mlir::ValueRange{row, at});
        Value result = scalar::mul(inner, count, v[1]);
        if (vectorizer.mode == "TF")
          result = count;
        if (vectorizer.mode == "IDF")
          result = inner.create<arith::SelectOp>(
              scalar::compare(inner, scalar::Relation::Greater, ElementType::F32, count, none), v[1], none);
        return inner.create<arith::SelectOp>(exists, result, none);
      });
}

mlir::LogicalResult buildTfIdfVectorizer(NodeContext &node) {
  mlir::FailureOr<Vectorizer> vectorizer = describe(node);
  if (failed(vectorizer))
    return mlir::failure();
  int64_t rank = node.rank(0);
  if (!isInteger(node.type(0)) || rank < 1 || rank > 2)
    return node.fail("input is " + spelling(node.type(0)) + " of shape " + shapeText(node.shape(0)) +
                     ", expected integers of rank 1 or 2");
  Builder &b = node.b;
  int64_t rows = rank == 2 ? node.shape(0)[0] : 1;
  Shape shape = {rows, vectorizer->outputs};
  if (!checkedByteCount(shape, ElementType::F32))
    return node.fail("the result " + shapeText(shape) + " is too large");
  Value items =
      reshapeTo(b, casted(b, node.input(0), node.type(0), ElementType::I64), {rows, node.shape(0).back()});
  llvm::SmallVector<Value> counts;
  for (const Grams &grams : vectorizer->grams) {
    int64_t size = grams.outputs.size(), skips = grams.length == 1 ? 0 : vectorizer->maxSkip;
    Value sum = zeroTensor(b, {rows, size}, b.getF32Type());
    for (int64_t skip = 0; skip <= skips; ++skip)
      sum = counted(node, items, grams, skip + 1, sum);
    counts.push_back(sum);
  }
  Value result = counts.empty() ? zeroTensor(b, shape, b.getF32Type()) : Value();
  if (!counts.empty())
    result =
        placed(node, counts.size() == 1 ? counts[0] : b.create<mlir::tensor::ConcatOp>(1, counts).getResult(),
               *vectorizer);
  node.setResult(0, rank == 2 ? result : reshapeTo(b, result, vectorizer->outputs), ElementType::F32);
  return mlir::success();
}

constexpr OperatorEntry kOperators[] = {
    {"", "TfIdfVectorizer", 9, 1, 1, buildTfIdfVectorizer, "integers only"},
};

} // namespace

llvm::ArrayRef<OperatorEntry> textFeatureOperators() { return kOperators; }

} // namespace autotune
