// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/OperatorReference.h"

#include "frontend/ElementType.h"
#include "frontend/OnnxProto.h"
#include "frontend/OperandTypes.h"
#include "frontend/OperatorTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <onnx/defs/schema.h>
#include <set>

namespace autotune {
namespace {

/// Oldest version that models are taken in.
constexpr int kOldestOpset = 7;

using Name = std::pair<std::string, std::string>; // domain, operator

/// The newest description that libonnx has of each operator, its own and that of ai.onnx.ml left out.
std::map<Name, onnx::OpSchema> newestSchemas() {
  std::map<Name, onnx::OpSchema> newest;
  for (const onnx::OpSchema &schema : onnx::OpSchemaRegistry::get_all_schemas())
    if (schema.domain().empty())
      newest.emplace(Name(schema.domain(), schema.Name()), schema);
  return newest;
}

/// `present`, with the word for a family where the whole family is there.
std::string typesText(std::set<ElementType> present) {
  struct Family {
    const char *word;
    std::vector<ElementType> members;
  };
  const Family families[] = {
      {"floats", {ElementType::F32, ElementType::F64, ElementType::F16, ElementType::BF16}},
      {"signed", {ElementType::I8, ElementType::I16, ElementType::I32, ElementType::I64}},
      {"unsigned", {ElementType::U8, ElementType::U16, ElementType::U32, ElementType::U64}},
      {"bool", {ElementType::Bool}}};
  if (present.size() == size_t(ElementType::Bool) + 1)
    return "all";
  std::vector<std::string> words;
  for (const Family &family : families) {
    if (llvm::all_of(family.members, [&](ElementType type) { return present.count(type); })) {
      words.push_back(family.word);
      continue;
    }
    for (ElementType type : family.members)
      if (present.count(type))
        words.push_back(type == ElementType::Bool ? "bool" : spelling(type).str());
  }
  return llvm::join(words, ", ");
}

/// What the first input may hold (the first output, of operators without inputs).
std::string typesOf(const onnx::OpSchema &schema) {
  const auto &parameters = schema.inputs().empty() ? schema.outputs() : schema.inputs();
  std::set<ElementType> present;
  if (!parameters.empty())
    for (ElementType type : elementTypesAmong(parameters[0].GetTypes()))
      present.insert(type);
  return typesText(std::move(present));
}

/// In which versions each operator of ai.onnx changed, as far as libonnx goes.
std::map<std::string, std::set<int64_t>> schemaVersions() {
  std::map<std::string, std::set<int64_t>> versions;
  for (const onnx::OpSchema &schema : onnx::OpSchemaRegistry::get_all_schemas_with_history())
    if (schema.domain().empty())
      versions[schema.Name()].insert(schema.SinceVersion());
  return versions;
}

/// "7, 11, 13+": the oldest version taken and those since in which the operator changed.
std::string versionsText(llvm::ArrayRef<const OperatorEntry *> entries, const std::set<int64_t> &schema) {
  int64_t oldest = entries.front()->since;
  if (entries.front()->domain.empty())
    oldest = std::max<int64_t>(oldest, kOldestOpset);
  std::set<int64_t> versions = {oldest};
  for (const OperatorEntry *entry : entries)
    versions.insert(std::max(entry->since, oldest));
  for (int64_t version : schema)
    versions.insert(std::max(version, oldest));
  return llvm::join(llvm::map_range(versions, [](int64_t version) { return std::to_string(version); }),
                    ", ") +
         "+";
}

std::string limitsText(llvm::ArrayRef<const OperatorEntry *> entries) {
  llvm::SetVector<llvm::StringRef> limits;
  for (const OperatorEntry *entry : entries)
    if (!entry->limits.empty())
      limits.insert(entry->limits);
  return llvm::join(limits, "; ");
}

std::map<Name, std::vector<const OperatorEntry *>> entriesByName() {
  std::map<Name, std::vector<const OperatorEntry *>> entries;
  for (const OperatorEntry &entry : allOperators())
    entries[{entry.domain.str(), entry.name.str()}].push_back(&entry);
  return entries;
}

void writeTable(llvm::raw_ostream &out, llvm::StringRef domain,
                const std::map<Name, onnx::OpSchema> &schemas) {
  std::map<std::string, std::set<int64_t>> versions = schemaVersions();
  out << "| operator | versions | types | limits |\n|---|---|---|---|\n";
  for (const auto &[name, entries] : entriesByName()) {
    if (name.first != domain)
      continue;
    auto schema = schemas.find(name);
    out << "| " << name.second << " | "
        << versionsText(entries, domain.empty() ? versions[name.second] : std::set<int64_t>()) << " | "
        << (schema != schemas.end() ? typesOf(schema->second) : std::string("as specified")) << " | "
        << limitsText(entries) << " |\n";
  }
}

void writeNames(llvm::raw_ostream &out, llvm::ArrayRef<std::string> names) {
  out << llvm::join(names, ", ") << ".\n";
}

} // namespace

std::string operatorReference() {
  std::map<Name, onnx::OpSchema> schemas = newestSchemas();
  std::map<Name, std::vector<const OperatorEntry *>> entries = entriesByName();
  std::vector<std::string> functions, refused;
  for (const auto &[name, schema] : schemas) {
    if (entries.count(name) || schema.deprecated())
      continue;
    bool isFunction = schema.HasFunction() || schema.HasContextDependentFunction();
    (isFunction ? functions : refused).push_back(name.second);
  }
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "# Operators\n\nGenerated by `autotune operators`. Models of opset " << kOldestOpset << " to "
      << kNewestOpset
      << " are taken, with dense tensors of static\nshape. *Versions* are the oldest one taken and those in "
         "which the"
         " operator changed since; each is imported as\nits own version says. *Types* are those of the first "
         "input: floats"
         " are f32, f64, f16 and bf16 (half types are\ncomputed in f32), signed and unsigned are integers of "
         "8 to 64 bits."
         " int4, float8, strings and complex numbers\nare refused by name.\n\n## ai.onnx\n\n";
  writeTable(out, "", schemas);
  std::set<std::string> domains;
  for (const auto &[name, list] : entries)
    if (!name.first.empty())
      domains.insert(name.first);
  for (const std::string &domain : domains) {
    out << "\n## " << domain << "\n\n";
    writeTable(out, domain, schemas);
  }
  out << "\n## Functions\n\nOperators that ONNX defines in terms of others, and the functions that a model "
         "brings along,"
         " are replaced by their\nbodies: ";
  writeNames(out, functions);
  out << "\n## Refused\n\nThe importer names each such node and its type: ";
  writeNames(out, refused);
  return text;
}

} // namespace autotune
