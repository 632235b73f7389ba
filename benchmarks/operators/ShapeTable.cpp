// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One function for each section: from the keys of an entry to an operator.
#include "benchmarks/operators/ShapeTable.h"

#include "schedule/Errors.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MemoryBuffer.h"

#include <yaml-cpp/yaml.h>

#include <optional>
#include <set>

namespace autotune::benchmarks {
namespace {

/// Thrown here and by yaml-cpp; caught in parseShapes.
[[noreturn]] void fail(const YAML::Node &node, const std::string &message) {
  throw YAML::Exception(node.Mark(), message);
}

/// The keys of one entry; those that nobody asked for are errors.
class Entry {
public:
  explicit Entry(const YAML::Node &node) : node(node) {
    if (!node.IsMap())
      fail(node, "expected keys and values in {}");
  }

  /// `count` sizes, each at least `least`.
  Sizes sizes(const char *key, size_t count, int64_t least = 1) {
    asked.insert(key);
    if (!node[key])
      fail(node, std::string("expected the key '") + key + "'");
    auto values = node[key].as<Sizes>();
    if ((count != 0 && values.size() != count) || llvm::any_of(values, [&](int64_t v) { return v < least; }))
      fail(node[key], "expected " + (count ? std::to_string(count) + " " : std::string()) +
                          "numbers of at least " + std::to_string(least));
    return values;
  }
  int64_t number(const char *key, int64_t standard) { return pair(key, standard, standard > 0 ? 1 : 0)[0]; }
  int64_t required(const char *key) {
    if (!node[key])
      fail(node, std::string("expected the key '") + key + "'");
    return number(key, 1);
  }
  /// One number, or one for height and one for width.
  std::array<int64_t, 2> pair(const char *key, int64_t standard, int64_t least) {
    asked.insert(key);
    if (!node[key])
      return {standard, standard};
    if (node[key].IsSequence()) {
      Sizes both = sizes(key, 2, least);
      return {both[0], both[1]};
    }
    auto value = node[key].as<int64_t>();
    if (value < least)
      fail(node[key], "expected at least " + std::to_string(least));
    return {value, value};
  }
  Tail tail(Tail standard) {
    asked.insert("tail");
    if (!node["tail"])
      return standard;
    auto name = node["tail"].as<std::string>();
    for (Tail tail : {Tail::Bias, Tail::Relu, Tail::Relu6, Tail::HardSwish, Tail::Gelu})
      if (tailName(tail) == name)
        return tail;
    fail(node["tail"], "found '" + name + "', expected bias, relu, relu6, hard_swish or gelu");
  }
  void finish() const {
    for (const auto &item : node)
      if (auto key = item.first.as<std::string>(); !asked.contains(key))
        fail(item.first, "unknown key '" + key + "'");
  }

private:
  YAML::Node node;
  std::set<std::string> asked;
};

Operator readGemm(Entry &entry) {
  Sizes size = entry.sizes("size", 3);
  Gemm gemm{1, size[0], size[1], size[2]};
  gemm.tail = entry.tail(Tail::None);
  return gemm;
}

Operator readAttention(Entry &entry) {
  Sizes size = entry.sizes("size", 3);
  return Gemm{entry.number("batch", 1), size[0], size[1], size[2], /*constantRight=*/false};
}

Convolution readWindow(Entry &entry) {
  Sizes input = entry.sizes("input", 3);
  Convolution conv{input[0], input[1], input[2], input[0]};
  conv.kernel = entry.pair("kernel", 1, 1);
  conv.stride = entry.pair("stride", 1, 1);
  conv.padding = entry.pair("padding", 0, 0);
  conv.tail = entry.tail(Tail::Relu);
  return conv;
}

Operator readConvolution(Entry &entry) {
  Convolution conv = readWindow(entry);
  conv.filters = entry.required("filters");
  return conv;
}

Operator readDepthwise(Entry &entry) {
  Convolution conv = readWindow(entry);
  conv.depthwise = true;
  return conv;
}

Operator readMaxPool(Entry &entry) {
  Sizes input = entry.sizes("input", 3);
  return Pooling{Pooling::Function::Maximum,
                 input[0],
                 input[1],
                 input[2],
                 entry.number("kernel", 1),
                 entry.number("stride", 1),
                 entry.number("padding", 0)};
}

Operator readGlobalAverage(Entry &entry) {
  Sizes input = entry.sizes("input", 3);
  return Pooling{Pooling::Function::GlobalAverage, input[0], input[1], input[2]};
}

template <RowWise::Function function> Operator readRowWise(Entry &entry) {
  Sizes size = entry.sizes("size", 2);
  return RowWise{function, size[0], size[1]};
}

template <Elementwise::Function function> Operator readElementwise(Entry &entry) {
  return Elementwise{function, entry.sizes("size", 0)};
}

using ReadOperator = Operator (*)(Entry &);

ReadOperator sectionReader(llvm::StringRef section) {
  return llvm::StringSwitch<ReadOperator>(section)
      .Case("gemm", readGemm)
      .Case("attention", readAttention)
      .Case("convolution", readConvolution)
      .Case("depthwise", readDepthwise)
      .Case("max_pool", readMaxPool)
      .Case("global_average", readGlobalAverage)
      .Case("softmax", readRowWise<RowWise::Function::Softmax>)
      .Case("layer_norm", readRowWise<RowWise::Function::LayerNorm>)
      .Case("add", readElementwise<Elementwise::Function::Add>)
      .Case("gelu", readElementwise<Elementwise::Function::Gelu>)
      .Default(nullptr);
}

void checkSizes(const YAML::Node &node, const Operator &op) {
  if (llvm::any_of(outputShape(op), [](int64_t size) { return size < 1; }))
    fail(node, "the window is larger than the input");
}

std::vector<OperatorShape> readSections(const YAML::Node &root) {
  std::vector<OperatorShape> shapes;
  std::set<std::string> names;
  for (const auto &section : root) {
    ReadOperator read = sectionReader(section.first.as<std::string>());
    if (!read)
      fail(section.first, "unknown section '" + section.first.as<std::string>() + "'");
    for (const auto &item : section.second) {
      auto name = item.first.as<std::string>();
      if (!names.insert(name).second)
        fail(item.first, "'" + name + "' is there twice");
      Entry entry(item.second);
      Operator op = read(entry);
      entry.finish();
      checkSizes(item.second, op);
      shapes.push_back({name, std::move(op)});
    }
  }
  return shapes;
}

} // namespace

llvm::Expected<std::vector<OperatorShape>> parseShapes(llvm::StringRef text) {
  try {
    return readSections(YAML::Load(text.str()));
  } catch (const YAML::Exception &error) {
    return makeError("line {0}: {1}", error.mark.line + 1, error.msg);
  }
}

llvm::Expected<std::vector<OperatorShape>> readShapes(const std::string &file) {
  auto buffer = llvm::MemoryBuffer::getFile(file);
  if (!buffer)
    return makeError("{0}: {1}", file, buffer.getError().message());
  llvm::Expected<std::vector<OperatorShape>> shapes = parseShapes((*buffer)->getBuffer());
  if (!shapes)
    return makeError("{0}: {1}", file, llvm::toString(shapes.takeError()));
  return shapes;
}

} // namespace autotune::benchmarks
