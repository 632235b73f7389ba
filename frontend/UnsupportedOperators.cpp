// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Collects unsupported nodes by operator and says why.
#include "frontend/UnsupportedOperators.h"

#include "frontend/FunctionLibrary.h"
#include "frontend/NodeContext.h"
#include "frontend/OnnxProto.h"
#include "frontend/OperatorTable.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

namespace autotune {

namespace {

using Opsets = llvm::StringMap<int64_t>;

constexpr const char *kRandom = "its result is random";
constexpr const char *kStrings = "strings are not supported";

struct Reason {
  llvm::StringRef name;
  const char *text;
};

// Operators of ai.onnx that cannot be compiled to static shapes of dense numbers.
constexpr Reason kReasons[] = {
    {"Bernoulli", kRandom},
    {"ImageDecoder", "it decodes image files"},
    {"Multinomial", kRandom},
    {"RandomNormal", kRandom},
    {"RandomNormalLike", kRandom},
    {"RandomUniform", kRandom},
    {"RandomUniformLike", kRandom},
    {"RegexFullMatch", kStrings},
    {"StringConcat", kStrings},
    {"StringNormalizer", kStrings},
    {"StringSplit", kStrings},
};

/// Why an operator of ai.onnx is refused whatever its version; also one that ONNX defines as a function. Null: it is not.
const char *refusal(llvm::StringRef domain, llvm::StringRef name) {
  const Reason *reason = llvm::find_if(kReasons, [&](const Reason &r) { return r.name == name; });
  return domain.empty() && reason != std::end(kReasons) ? reason->text : nullptr;
}

llvm::StringRef canonical(llvm::StringRef domain) { return domain == "ai.onnx" ? "" : domain; }

std::string reasonFor(llvm::StringRef domain, llvm::StringRef name, std::optional<int64_t> version) {
  if (!version)
    return domain.empty() ? "the model does not say which version of ai.onnx it uses"
                          : "the model imports no domain '" + domain.str() + "' and has no such function";
  if (const char *reason = refusal(domain, name))
    return reason;
  llvm::ArrayRef<OperatorEntry> table = allOperators();
  const auto *newer = llvm::find_if(
      table, [&](const OperatorEntry &entry) { return entry.domain == domain && entry.name == name; });
  if (newer != table.end())
    return "supported from version " + std::to_string(newer->since) + " on, the model uses version " +
           std::to_string(*version);
  bool knownDomain = llvm::any_of(table, [&](const OperatorEntry &entry) { return entry.domain == domain; });
  if (!knownDomain)
    return "the domain '" + domain.str() + "' is not supported";
  return "no such operator is known";
}

/// Walks graphs and the functions that they call.
class UnsupportedOperators {
public:
  UnsupportedOperators(const onnx::ModelProto &model, const Opsets &opsets) : library(model) {
    visit(model.graph().node(), opsets);
    // A list, not recursion: functions may call each other to any depth.
    while (!called.empty()) {
      const onnx::FunctionProto *function = called.pop_back_val();
      Opsets own = opsets;
      for (const auto &import : function->opset_import())
        own[canonical(import.domain())] = import.version();
      visit(function->node(), own);
    }
  }

  bool empty() const { return found.empty(); }
  std::string describe() const;

private:
  struct Group {
    std::string reason;
    llvm::SmallVector<std::string> nodes;
  };

  template <typename Nodes> void visit(const Nodes &nodes, const Opsets &opsets) {
    for (const onnx::NodeProto &node : nodes) {
      visitNode(node, opsets);
      for (const onnx::AttributeProto &attribute : node.attribute())
        if (attribute.has_g())
          visit(attribute.g().node(), opsets);
    }
  }

  void visitNode(const onnx::NodeProto &node, const Opsets &opsets) {
    ++total;
    llvm::StringRef domain = canonical(node.domain());
    if (const onnx::FunctionProto *function = library.ofModel(domain, node.op_type())) {
      if (visited.insert(function).second)
        called.push_back(function);
      return;
    }
    auto import = opsets.find(domain);
    std::optional<int64_t> version;
    if (import != opsets.end())
      version = import->second;
    bool isRefused = refusal(domain, node.op_type()) != nullptr;
    if (version && !isRefused && (findOperator(domain, node.op_type(), *version) ||
                    library.contains(domain, node.op_type(), *version)))
      return;
    Group &group = found[(domain.empty() ? "" : domain.str() + ".") + node.op_type()];
    if (group.nodes.empty())
      group.reason = reasonFor(domain, node.op_type(), version);
    group.nodes.push_back(nodeLabel(node));
  }

  FunctionLibrary library;
  llvm::SmallPtrSet<const onnx::FunctionProto *, 8> visited;
  llvm::SmallVector<const onnx::FunctionProto *> called;
  llvm::MapVector<std::string, Group, std::map<std::string, unsigned>> found;
  size_t total = 0;
};

std::string UnsupportedOperators::describe() const {
  // More names than these help nobody.
  constexpr size_t kShownNodes = 8, kShownGroups = 20;
  size_t count = 0;
  for (const auto &[name, group] : found)
    count += group.nodes.size();
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << count << " of " << total << " nodes "
         << (count == 1 ? "has an operator that is" : "have operators that are") << " not supported: ";
  size_t shown = 0;
  for (const auto &[name, group] : found) {
    if (shown++ == kShownGroups) {
      stream << "; and " << found.size() - kShownGroups << " other operators";
      break;
    }
    stream << (shown == 1 ? "" : "; ") << group.nodes.size() << " " << name << " (";
    llvm::ArrayRef<std::string> nodes = llvm::ArrayRef(group.nodes).take_front(kShownNodes);
    llvm::interleave(nodes, stream, [&](const std::string &node) { stream << "'" << node << "'"; }, ", ");
    stream << (nodes.size() < group.nodes.size() ? ", …" : "") << "): " << group.reason;
  }
  return text;
}

} // namespace

llvm::Error checkOperatorsKnown(const onnx::ModelProto &model, const Opsets &opsets) {
  UnsupportedOperators unsupported(model, opsets);
  if (unsupported.empty())
    return llvm::Error::success();
  return llvm::createStringError(llvm::Twine(unsupported.describe()));
}

} // namespace autotune
