// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The YAML spelling of fields.
#include "knowledge_base/Fields.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <charconv>
#include <cmath>

using namespace autotune;

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Text that YAML reads back as it stands, on one line and without quotes.
static bool isPlain(llvm::StringRef text) {
  if (text.empty() || !llvm::isAlnum(text.front()) || text.ends_with(" ") || text.ends_with(":") ||
      text.contains("  ") || text.contains(": ") || text.equals_insensitive("null"))
    return false;
  return llvm::all_of(text,
                      [](char c) { return llvm::isAlnum(c) || llvm::StringRef("_.-=+/: ").contains(c); });
}

/// Lines that fit a literal block: printable, the last one ended.
static bool isBlock(llvm::StringRef text) {
  return text.ends_with("\n") && !text.ends_with("\n\n") && !text.starts_with(" ") &&
         !text.starts_with("\n") && llvm::all_of(text, [](char c) { return llvm::isPrint(c) || c == '\n'; });
}

static std::string quoted(llvm::StringRef text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      (result += '\\') += c;
    else if ((unsigned char)c < 0x20 || c == 0x7f)
      result += "\\x" + llvm::utohexstr((unsigned char)c, /*LowerCase=*/true, /*Width=*/2);
    else
      result += c;
  }
  return result + "\"";
}

static std::string spelled(llvm::StringRef text) { return isPlain(text) ? text.str() : quoted(text); }

void FieldWriter::line(llvm::StringRef key, llvm::StringRef value) {
  output.append(size_t(item ? indent - 2 : indent), ' ');
  if (item)
    output += "- ";
  item = false;
  output += spelled(key) + ":";
  if (!value.empty())
    output += " " + value.str();
  output += "\n";
}

void FieldWriter::field(llvm::StringRef key, const std::string &value) {
  if (!isBlock(value))
    return line(key, spelled(value));
  line(key, "|");
  llvm::SmallVector<llvm::StringRef, 16> lines;
  llvm::StringRef(value).drop_back().split(lines, '\n');
  for (llvm::StringRef content : lines)
    output += (content.empty() ? "" : std::string(size_t(indent) + 2, ' ') + content.str()) + "\n";
}

void FieldWriter::field(llvm::StringRef key, double value) {
  char digits[32];
  line(key, llvm::StringRef(digits, size_t(std::to_chars(digits, std::end(digits), value).ptr - digits)));
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static std::string describe(const YAML::Node &node) {
  if (node.IsScalar())
    return "'" + node.Scalar().substr(0, 80) + "'";
  return node.IsMap() ? "a map" : node.IsSequence() ? "a list" : "nothing";
}

static std::string atLine(const YAML::Node &node) {
  return "line " + std::to_string(node.Mark().line + 1) + ": ";
}

void FieldReader::fault(const YAML::Node &node, llvm::StringRef expected) {
  throw FieldFault(atLine(node) + "found " + describe(node) + ", expected " + expected.str());
}

FieldReader::FieldReader(const YAML::Node &node) : map(node) {
  forEachPair(node,
              [&](const YAML::Node &key, const YAML::Node &value) { entries.emplace_back(key, value); });
}

void FieldReader::finish() const {
  if (used < entries.size())
    throw FieldFault(atLine(entries[used].first) + "found key " + describe(entries[used].first) +
                     ", expected no more keys");
}

bool FieldReader::has(llvm::StringRef key) const {
  return used < entries.size() && entries[used].first.IsScalar() && entries[used].first.Scalar() == key;
}

const YAML::Node &FieldReader::next(llvm::StringRef key) {
  if (used == entries.size())
    throw FieldFault(atLine(map) + "found a map that ends, expected key '" + key.str() + "'");
  if (!has(key))
    throw FieldFault(atLine(entries[used].first) + "found key " + describe(entries[used].first) +
                     ", expected key '" + key.str() + "'");
  return entries[used++].second;
}

std::string FieldReader::scalar(const YAML::Node &node) {
  if (!node.IsScalar())
    fault(node, "a text");
  return node.Scalar();
}

template <typename Integer> static bool isInteger(const YAML::Node &node, Integer &value) {
  return node.IsScalar() && !llvm::StringRef(node.Scalar()).getAsInteger(10, value);
}

void FieldReader::field(llvm::StringRef key, int64_t &value) {
  if (const YAML::Node &node = next(key); !isInteger(node, value))
    fault(node, "an integer");
}

void FieldReader::field(llvm::StringRef key, uint64_t &value) {
  if (const YAML::Node &node = next(key); !isInteger(node, value))
    fault(node, "an integer of at least 0");
}

void FieldReader::field(llvm::StringRef key, int &value) {
  if (const YAML::Node &node = next(key); !isInteger(node, value))
    fault(node, "an integer");
}

void FieldReader::read(const YAML::Node &node, double &value) {
  std::string text = node.IsScalar() ? node.Scalar() : "";
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    fault(node, "a finite number");
}

void FieldReader::read(const YAML::Node &node, Schedule &value) {
  llvm::Expected<Schedule> schedule = Schedule::parse(scalar(node));
  if (!schedule)
    throw FieldFault(atLine(node) + llvm::toString(schedule.takeError()));
  value = std::move(*schedule);
}

void FieldReader::tag(llvm::StringRef key, llvm::StringRef value) {
  if (const YAML::Node &node = next(key); !node.IsScalar() || node.Scalar() != value)
    fault(node, ("'" + value + "'").str());
}

size_t FieldReader::position(const YAML::Node &node, llvm::ArrayRef<llvm::StringLiteral> names) {
  const llvm::StringLiteral *name =
      node.IsScalar() ? llvm::find(names, llvm::StringRef(node.Scalar())) : names.end();
  if (name == names.end())
    fault(node, "one of: " + llvm::join(names.begin(), names.end(), ", "));
  return size_t(name - names.begin());
}
