// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// YAML form and validity of partitions.
#include "schedule/Partition.h"

#include "schedule/Algorithm.h"
#include "schedule/Errors.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>
#include <yaml-cpp/yaml.h>

using namespace autotune;

static constexpr int kFormatVersion = 1;
static constexpr int kChannelBlocks[] = {0, 8, 16, 32};

std::string Partition::text(const Graph &graph) const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "format: " << kFormatVersion << "\nsubgraphs:" << (subgraphs.empty() ? " []\n" : "\n");
  for (const Subgraph &subgraph : subgraphs) {
    stream << "  - channel_block: " << subgraph.channelBlock << "\n    algorithm: " << subgraph.algorithm
           << "\n    operators:\n";
    for (int id : subgraph.operators) {
      stream << "      - " << id;
      if (id >= 0 && id < int(graph.operators.size())) {
        const GraphOperator &op = graph.operators[id];
        stream << "  # " << op.kind << " \"";
        llvm::printEscapedString(op.label, stream);
        stream << "\" ";
        llvm::interleave(graph.tensors[op.output].shape, stream, "x");
      }
      stream << "\n";
    }
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

namespace {
/// Thrown and caught inside this file only: yaml-cpp throws too, so both end at one border.
struct PartitionFault {
  int line;
  std::string found, expected;
};
} // namespace

[[noreturn]] static void fault(const YAML::Node &node, std::string found, std::string expected) {
  throw PartitionFault{node.Mark().line + 1, std::move(found), std::move(expected)};
}

static std::string describe(const YAML::Node &node) {
  if (node.IsScalar())
    return "'" + node.Scalar() + "'";
  return node.IsMap() ? "a map" : node.IsSequence() ? "a list" : "nothing";
}

static int readInteger(const YAML::Node &node, const char *expected) {
  int value = 0;
  if (!node.IsScalar() || llvm::StringRef(node.Scalar()).getAsInteger(10, value))
    fault(node, describe(node), expected);
  return value;
}

/// Checks that `node` is a map with exactly `keys`, each once.
static void expectKeys(const YAML::Node &node, std::initializer_list<llvm::StringRef> keys) {
  std::string expected = "a map with the keys " + llvm::join(keys, ", ");
  if (!node.IsMap())
    fault(node, describe(node), expected);
  for (const auto &entry : node)
    if (!entry.first.IsScalar() || !llvm::is_contained(keys, llvm::StringRef(entry.first.Scalar())))
      fault(entry.first, "key " + describe(entry.first), expected);
  for (llvm::StringRef key : keys)
    if (llvm::count_if(node, [&](const auto &entry) { return entry.first.Scalar() == key; }) != 1)
      fault(node, "key '" + key.str() + "' missing or given twice", expected);
}

static Subgraph readSubgraph(const YAML::Node &node) {
  expectKeys(node, {"channel_block", "algorithm", "operators"});
  Subgraph subgraph;
  subgraph.channelBlock = readInteger(node["channel_block"], "an integer");
  if (!node["algorithm"].IsScalar())
    fault(node["algorithm"], describe(node["algorithm"]), "the name of an algorithm");
  subgraph.algorithm = node["algorithm"].Scalar();
  if (!node["operators"].IsSequence())
    fault(node["operators"], describe(node["operators"]), "a list of operator ids");
  for (const YAML::Node &id : node["operators"])
    subgraph.operators.push_back(readInteger(id, "an operator id"));
  return subgraph;
}

llvm::Expected<Partition> Partition::parse(llvm::StringRef text) {
  try {
    YAML::Node root = YAML::Load(text.str());
    expectKeys(root, {"format", "subgraphs"});
    if (readInteger(root["format"], "a format version") != kFormatVersion)
      fault(root["format"], "format " + describe(root["format"]), "format " + std::to_string(kFormatVersion));
    if (!root["subgraphs"].IsSequence())
      fault(root["subgraphs"], describe(root["subgraphs"]), "a list of subgraphs");
    Partition partition;
    for (const YAML::Node &subgraph : root["subgraphs"])
      partition.subgraphs.push_back(readSubgraph(subgraph));
    return partition;
  } catch (const PartitionFault &error) {
    return makeError("partition line {0}: found {1}, expected {2}", error.line, error.found, error.expected);
  } catch (const YAML::Exception &error) {
    return makeError(
        "partition line {0}: found text that is not YAML ({1}), expected the keys format and subgraphs",
        error.mark.line + 1, error.msg);
  } catch (const std::exception &error) {
    return makeError("partition: found text that yaml-cpp cannot read ({0}), expected YAML", error.what());
  }
}

//===----------------------------------------------------------------------===//
// Validity
//===----------------------------------------------------------------------===//

static std::string operatorName(const Graph &graph, int id) {
  std::string label;
  llvm::raw_string_ostream stream(label);
  llvm::printEscapedString(graph.operators[id].label, stream);
  return llvm::formatv("operator {0} ('{1}')", id, label);
}

static llvm::Error checkChoices(const Subgraph &subgraph, size_t index) {
  if (subgraph.operators.empty())
    return makeError("partition: subgraph {0}: found no operators, expected at least one", index);
  if (!llvm::is_contained(kChannelBlocks, subgraph.channelBlock))
    return makeError("partition: subgraph {0}: found channel_block {1}, expected 0, 8, 16 or 32", index,
                     subgraph.channelBlock);
  if (!llvm::is_contained(algorithmNames(), llvm::StringRef(subgraph.algorithm)))
    return makeError("partition: subgraph {0}: found algorithm '{1}', expected one of: {2}", index,
                     subgraph.algorithm, llvm::join(algorithmNames(), ", "));
  return llvm::Error::success();
}

/// Fills `owner`: the subgraph of each operator.
static llvm::Error assignOwners(const Partition &partition, const Graph &graph, std::vector<int> &owner) {
  owner.assign(graph.operators.size(), -1);
  for (auto [index, subgraph] : llvm::enumerate(partition.subgraphs)) {
    if (llvm::Error error = checkChoices(subgraph, index))
      return error;
    int previous = -1;
    for (int id : subgraph.operators) {
      if (id < 0 || id >= int(owner.size()))
        return makeError("partition: subgraph {0}: found operator {1}, expected 0 to {2}", index, id,
                         int(owner.size()) - 1);
      if (owner[id] >= 0)
        return makeError("partition: found {0} in subgraphs {1} and {2}, expected it once",
                         operatorName(graph, id), owner[id], index);
      if (id < previous)
        return makeError("partition: subgraph {0}: found operator {1} after {2}, expected ascending ids",
                         index, id, previous);
      owner[id] = int(index);
      previous = id;
    }
  }
  for (auto [id, subgraph] : llvm::enumerate(owner))
    if (subgraph < 0)
      return makeError("partition: found {0} in no subgraph, expected it once", operatorName(graph, int(id)));
  return llvm::Error::success();
}

/// The graph whose vertices are subgraphs must have no cycle, and the subgraphs must be listed producers
/// first.
static llvm::Error checkOrder(const Partition &partition, const Graph &graph, const std::vector<int> &owner) {
  using Quotient = boost::adjacency_list<boost::setS, boost::vecS, boost::directedS>;
  Quotient quotient(partition.subgraphs.size());
  llvm::Error outOfOrder = llvm::Error::success();
  for (const GraphOperator &op : graph.operators)
    for (int input : op.inputs) {
      int producer = graph.tensors[input].producer;
      if (producer < 0 || owner[producer] == owner[op.id])
        continue;
      boost::add_edge(owner[producer], owner[op.id], quotient);
      if (owner[producer] > owner[op.id] && !outOfOrder)
        outOfOrder = makeError(
            "partition: subgraph {0}: {1} reads {2} of subgraph {3}, expected producers first", owner[op.id],
            operatorName(graph, op.id), operatorName(graph, producer), owner[producer]);
    }
  std::vector<int> component(partition.subgraphs.size());
  int components = boost::strong_components(
      quotient,
      boost::make_iterator_property_map(component.begin(), boost::get(boost::vertex_index, quotient)));
  if (size_t(components) == component.size())
    return outOfOrder;
  llvm::consumeError(std::move(outOfOrder));
  for (size_t first = 0;; ++first) {
    std::vector<std::string> members;
    for (auto [index, other] : llvm::enumerate(component))
      if (other == component[first])
        members.push_back(std::to_string(index));
    if (members.size() > 1)
      return makeError("partition: found a cycle through subgraphs {0}, expected none",
                       llvm::join(members, ", "));
  }
}

/// Winograd's algorithm is for one kind of convolution, and rounds in its own way.
static llvm::Error checkAlgorithms(const Partition &partition, const Graph &graph, Numerics numerics) {
  for (auto [index, subgraph] : llvm::enumerate(partition.subgraphs)) {
    if (winogradOutputs(subgraph.algorithm) == 0)
      continue;
    if (numerics == Numerics::Strict)
      return makeError("partition: subgraph {0}: found algorithm '{1}', expected none of Winograd's under "
                       "numerics strict",
                       index, subgraph.algorithm);
    auto isConvolution = [&](int id) { return graph.operators[id].minimalFiltering; };
    if (llvm::none_of(subgraph.operators, isConvolution))
      return makeError("partition: subgraph {0}: found algorithm '{1}' for {2}, expected it for 3x3 "
                       "convolutions of stride 1 with constant f32 filters whose taps do not cancel",
                       index, subgraph.algorithm, operatorName(graph, subgraph.operators.front()));
  }
  return llvm::Error::success();
}

llvm::Error Partition::verify(const Graph &graph, Numerics numerics) const {
  std::vector<int> owner;
  if (llvm::Error error = assignOwners(*this, graph, owner))
    return error;
  if (llvm::Error error = checkAlgorithms(*this, graph, numerics))
    return error;
  return checkOrder(*this, graph, owner);
}
