// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes and reads YAML maps field by field, so that one list of fields describes both directions.
//
// A type T is described by a function `template <typename A> void fields(A &archive, T &value)` that calls
// `archive.field("key", value.member)` for each member in order.
#pragma once

#include "schedule/Schedule.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace autotune {

/// Thrown by FieldReader; whoever makes a reader catches it together with YAML::Exception.
struct FieldFault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class FieldWriter {
public:
  const std::string &text() const { return output; }

  void field(llvm::StringRef key, const std::string &value);
  void field(llvm::StringRef key, int64_t value) { line(key, std::to_string(value)); }
  void field(llvm::StringRef key, uint64_t value) { line(key, std::to_string(value)); }
  void field(llvm::StringRef key, int value) { line(key, std::to_string(value)); }
  void field(llvm::StringRef key, double value);
  void field(llvm::StringRef key, const Schedule &value) { field(key, value.text()); }
  /// An enumeration whose values count from 0.
  template <typename Enum>
  void choice(llvm::StringRef key, Enum &value, llvm::ArrayRef<llvm::StringLiteral> names) {
    field(key, names[size_t(value)].str());
  }
  /// Says which version or type the text is; `value` is fixed.
  void tag(llvm::StringRef key, llvm::StringRef value) { field(key, value.str()); }

  template <typename Value> void field(llvm::StringRef key, const std::map<std::string, Value> &value) {
    pairs(key, value);
  }
  void field(llvm::StringRef key, const std::vector<std::pair<std::string, std::string>> &value) {
    pairs(key, value);
  }
  template <typename T> void group(llvm::StringRef key, T &value) {
    open(key, false);
    fields(*this, value);
    close();
  }
  template <typename T> void list(llvm::StringRef key, std::vector<T> &values) {
    open(key, values.empty(), "[]");
    for (T &value : values) {
      item = true;
      indent += 2;
      fields(*this, value);
      close();
    }
    close();
  }

private:
  template <typename Pairs> void pairs(llvm::StringRef key, const Pairs &values) {
    open(key, values.empty(), "{}");
    for (const auto &[name, value] : values)
      field(name, value);
    close();
  }
  void line(llvm::StringRef key, llvm::StringRef value);
  void open(llvm::StringRef key, bool empty, const char *emptyText = "{}") {
    line(key, empty ? emptyText : "");
    indent += 2;
  }
  void close() { indent -= 2; }

  std::string output;
  int indent = 0;
  bool item = false; // the next line starts an item of a list
};

class FieldReader {
public:
  /// Faults unless `node` is a map. Keys must come in the order in which the fields are asked for.
  explicit FieldReader(const YAML::Node &node);
  /// Faults if the map has more keys.
  void finish() const;

  void field(llvm::StringRef key, std::string &value) { value = scalar(next(key)); }
  void field(llvm::StringRef key, int64_t &value);
  void field(llvm::StringRef key, uint64_t &value);
  void field(llvm::StringRef key, int &value);
  void field(llvm::StringRef key, double &value) { read(next(key), value); }
  void field(llvm::StringRef key, Schedule &value) { read(next(key), value); }
  template <typename Enum>
  void choice(llvm::StringRef key, Enum &value, llvm::ArrayRef<llvm::StringLiteral> names) {
    value = Enum(position(next(key), names));
  }
  void tag(llvm::StringRef key, llvm::StringRef value);

  template <typename Value> void field(llvm::StringRef key, std::map<std::string, Value> &value) {
    value.clear();
    forEachPair(next(key), [&](const YAML::Node &name, const YAML::Node &node) {
      auto [entry, added] = value.emplace(scalar(name), Value());
      if (!added)
        fault(name, "a name given only once");
      read(node, entry->second);
    });
  }
  void field(llvm::StringRef key, std::vector<std::pair<std::string, std::string>> &value) {
    value.clear();
    forEachPair(next(key), [&](const YAML::Node &name, const YAML::Node &node) {
      value.emplace_back(scalar(name), scalar(node));
    });
  }
  template <typename T> void group(llvm::StringRef key, T &value) { readGroup(next(key), value); }
  template <typename T> void list(llvm::StringRef key, std::vector<T> &values) {
    const YAML::Node &node = next(key);
    if (!node.IsSequence())
      fault(node, "a list");
    values.clear();
    for (const YAML::Node &item : node)
      readGroup(item, values.emplace_back());
  }
  /// True if the next key is `key`.
  bool has(llvm::StringRef key) const;

private:
  template <typename T> static void readGroup(const YAML::Node &node, T &value) {
    FieldReader reader(node);
    fields(reader, value);
    reader.finish();
  }
  template <typename Visitor> static void forEachPair(const YAML::Node &node, Visitor visit) {
    if (!node.IsMap())
      fault(node, "a map");
    for (const auto &entry : node)
      visit(entry.first, entry.second);
  }
  [[noreturn]] static void fault(const YAML::Node &node, llvm::StringRef expected);
  const YAML::Node &next(llvm::StringRef key);
  static std::string scalar(const YAML::Node &node);
  static void read(const YAML::Node &node, double &value);
  static void read(const YAML::Node &node, Schedule &value);
  static size_t position(const YAML::Node &node, llvm::ArrayRef<llvm::StringLiteral> names);

  YAML::Node map;
  std::vector<std::pair<YAML::Node, YAML::Node>> entries;
  size_t used = 0;
};

} // namespace autotune
