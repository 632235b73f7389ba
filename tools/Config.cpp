// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads and prints the YAML configuration.
#include "tools/Config.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <set>
#include <yaml-cpp/yaml.h>

namespace autotune {
namespace {

using Texts = std::vector<std::string>;

/// Position and target of one application of a file.
struct Reader {
  std::vector<ConfigField> fields;
  std::string file;
  std::vector<std::string> *given;

  llvm::Error fail(const YAML::Mark &mark, const llvm::Twine &message) const {
    return llvm::createStringError(file + ":" + llvm::Twine(mark.line + 1) + ": " + message);
  }
  llvm::Error unknownKey(const YAML::Mark &mark, const std::string &path) const;
  bool isSection(llvm::StringRef name) const {
    return llvm::any_of(
        fields, [&](const ConfigField &f) { return llvm::StringRef(f.path).starts_with(name.str() + "."); });
  }
  llvm::Error readValue(const std::string &path, const YAML::Node &key, const YAML::Node &value);
  llvm::Error readSection(const std::string &section, const YAML::Node &node);
  llvm::Error readTop(const YAML::Node &root);
};

llvm::StringRef describe(const YAML::Node &node) {
  switch (node.Type()) {
  case YAML::NodeType::Map:
    return "a mapping";
  case YAML::NodeType::Sequence:
    return "a sequence";
  case YAML::NodeType::Scalar:
    return "a single value";
  default:
    return "nothing";
  }
}

Texts splitCommas(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> words;
  text.split(words, ',');
  Texts result;
  for (llvm::StringRef word : words)
    result.push_back(word.trim().str());
  return result;
}

llvm::Error Reader::unknownKey(const YAML::Mark &mark, const std::string &path) const {
  // Compared by the last word too, so that a key in the wrong section is found.
  llvm::StringRef word = llvm::StringRef(path).rsplit('.').second;
  std::string nearest;
  unsigned best = ~0u;
  for (const ConfigField &field : fields) {
    llvm::StringRef name = field.path;
    unsigned distance = name.edit_distance(path);
    if (!word.empty() && name.contains('.'))
      distance = std::min(distance, 1 + name.split('.').second.edit_distance(word));
    if (word.empty())
      distance = std::min(distance, name.split('.').first.edit_distance(path));
    if (distance < best) {
      best = distance;
      nearest = word.empty() ? name.split('.').first.str() : field.path;
    }
  }
  return fail(mark, "unknown key `" + path + "`; the nearest known key is `" + nearest + "`");
}

llvm::Error Reader::readValue(const std::string &path, const YAML::Node &key, const YAML::Node &value) {
  auto field = llvm::find_if(fields, [&](const ConfigField &f) { return f.path == path; });
  if (field == fields.end())
    return unknownKey(key.Mark(), path);
  Texts texts;
  if (value.IsScalar()) {
    texts = field->commas ? splitCommas(value.Scalar()) : Texts{value.Scalar()};
  } else if (value.IsSequence() && field->list) {
    for (const YAML::Node &item : value) {
      if (!item.IsScalar())
        return fail(item.Mark(), "key `" + path + "`: found " + describe(item) +
                                     " in the sequence, expected single values");
      texts.push_back(item.Scalar());
    }
  } else {
    llvm::StringRef expected = field->list ? "a sequence or a single value" : "a single value";
    return fail(key.Mark(), "key `" + path + "`: found " + describe(value) + ", expected " + expected);
  }
  if (std::optional<std::string> expected = field->set(texts))
    return fail(key.Mark(),
                "key `" + path + "`: found `" + llvm::join(texts, ", ") + "`, expected " + *expected);
  if (given)
    given->push_back(path);
  return llvm::Error::success();
}

llvm::Error Reader::readSection(const std::string &section, const YAML::Node &node) {
  if (node.IsNull())
    return llvm::Error::success();
  std::set<std::string> seen;
  for (const auto &entry : node) {
    if (!entry.first.IsScalar())
      return fail(entry.first.Mark(),
                  llvm::Twine("found ") + describe(entry.first) + " as a key, expected a word");
    std::string path = section + "." + entry.first.Scalar();
    if (!seen.insert(path).second)
      return fail(entry.first.Mark(), "key `" + path + "` is given twice, expected once");
    if (llvm::Error error = readValue(path, entry.first, entry.second))
      return error;
  }
  return llvm::Error::success();
}

llvm::Error Reader::readTop(const YAML::Node &root) {
  if (root.IsNull())
    return llvm::Error::success();
  if (!root.IsMap())
    return fail(root.Mark(), llvm::Twine("found ") + describe(root) + ", expected a mapping of sections");
  std::set<std::string> seen;
  for (const auto &entry : root) {
    if (!entry.first.IsScalar())
      return fail(entry.first.Mark(),
                  llvm::Twine("found ") + describe(entry.first) + " as a key, expected a word");
    const std::string &name = entry.first.Scalar();
    if (!seen.insert(name).second)
      return fail(entry.first.Mark(), "key `" + name + "` is given twice, expected once");
    if (isSection(name)) {
      if (!entry.second.IsMap() && !entry.second.IsNull())
        return fail(entry.first.Mark(),
                    "section `" + name + "`: found " + describe(entry.second) + ", expected a mapping");
      if (llvm::Error error = readSection(name, entry.second))
        return error;
    } else if (llvm::Error error = readValue(name, entry.first, entry.second)) {
      return error;
    }
  }
  return llvm::Error::success();
}

std::string quoted(const std::string &text) {
  bool plain = !text.empty() && llvm::all_of(text, [](char c) {
    return llvm::isAlnum(c) || llvm::StringRef("_./=").contains(c);
  });
  if (plain)
    return text;
  YAML::Emitter emitter;
  emitter << YAML::DoubleQuoted << text;
  return emitter.c_str();
}

} // namespace

llvm::Error setConfigValue(Config &config, llvm::StringRef path, const std::vector<std::string> &texts) {
  std::vector<ConfigField> fields = configFields(config);
  auto field = llvm::find_if(fields, [&](const ConfigField &f) { return f.path == path; });
  assert(field != fields.end() && "flags name keys that exist");
  Texts values;
  for (const std::string &text : texts)
    llvm::append_range(values, field->commas ? splitCommas(text) : Texts{text});
  if (std::optional<std::string> expected = field->set(values))
    return llvm::createStringError("found `" + llvm::join(values, ", ") + "`, expected " + *expected);
  return llvm::Error::success();
}

llvm::Error applyConfigText(Config &config, llvm::StringRef text, llvm::StringRef file,
                            std::vector<std::string> *given) {
  Reader reader{configFields(config), file.str(), given};
  try {
    return reader.readTop(YAML::Load(text.str()));
  } catch (const YAML::Exception &exception) {
    return reader.fail(exception.mark, "not valid YAML: " + exception.msg);
  }
}

llvm::Error applyConfigFile(Config &config, const std::string &file, std::vector<std::string> *given) {
  auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/true);
  if (!buffer)
    return llvm::createStringError(file + ": cannot read the configuration: " + buffer.getError().message());
  return applyConfigText(config, (*buffer)->getBuffer(), file, given);
}

std::string printConfig(const Config &config) {
  Config copy = config;
  std::string text;
  llvm::raw_string_ostream out(text);
  std::string section;
  for (const ConfigField &field : configFields(copy)) {
    auto [first, key] = llvm::StringRef(field.path).split('.');
    if (!key.empty() && first != section) {
      section = first.str();
      out << "\n" << section << ":\n";
    }
    Texts values = field.get();
    for (std::string &value : values)
      value = quoted(value);
    std::string value = llvm::join(values, ", ");
    if (field.list)
      value = "[" + value + "]";
    llvm::StringRef indent = key.empty() ? "" : "  ";
    out << indent << "# " << field.meaning << "\n"
        << indent << (key.empty() ? first : key) << ": " << value << "\n";
  }
  return text;
}

} // namespace autotune
