// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of configuration keys: how each is read from text and written back.
#include "tools/Config.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <utility>

namespace autotune {
namespace {

using Texts = std::vector<std::string>;
using Expectation = std::optional<std::string>;

/// How one type of value is read and written. `parse` returns what was expected if the text is wrong.
template <typename T> struct ValueText;

template <> struct ValueText<bool> {
  static Expectation parse(llvm::StringRef text, bool &value) {
    if (text != "true" && text != "false")
      return "true or false";
    value = text == "true";
    return std::nullopt;
  }
  static std::string print(bool value) { return value ? "true" : "false"; }
};

template <> struct ValueText<int64_t> {
  static Expectation parse(llvm::StringRef text, int64_t &value) {
    int64_t number = 0;
    if (text.getAsInteger(10, number) || number < 0 || number > 1'000'000'000)
      return "a whole number from 0 to 1000000000";
    value = number;
    return std::nullopt;
  }
  static std::string print(int64_t value) { return std::to_string(value); }
};

template <> struct ValueText<std::string> {
  static Expectation parse(llvm::StringRef text, std::string &value) {
    value = text.str();
    return std::nullopt;
  }
  static std::string print(const std::string &value) { return value; }
};

template <> struct ValueText<InputShape> {
  static Expectation parse(llvm::StringRef text, InputShape &value) {
    llvm::Expected<InputShape> shape = InputShape::parse(text);
    if (!shape) {
      llvm::consumeError(shape.takeError());
      return "NAME=SHAPE or NAME=SHAPE;SHAPE with a SHAPE like 1x3x224x224 (or `scalar`)";
    }
    value = std::move(*shape);
    return std::nullopt;
  }
  static std::string print(const InputShape &value) { return value.text(); }
};

template <> struct ValueText<InputValue> {
  static Expectation parse(llvm::StringRef text, InputValue &value) {
    llvm::Expected<InputValue> parsed = InputValue::parse(text);
    if (!parsed) {
      llvm::consumeError(parsed.takeError());
      return "NAME=NUMBERS (with commas between them) or NAME=FILE (.npy or .pb)";
    }
    value = std::move(*parsed);
    return std::nullopt;
  }
  static std::string print(const InputValue &value) { return value.text(); }
};

struct TimeUnit {
  llvm::StringLiteral suffix;
  int64_t milliseconds;
};
constexpr TimeUnit kTimeUnits[] = {{"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}};

template <> struct ValueText<TimeLimit> {
  static Expectation parse(llvm::StringRef text, TimeLimit &value) {
    if (text == "none") {
      value = TimeLimit::zero();
      return std::nullopt;
    }
    double number = 0;
    llvm::StringRef digits = text.take_while([](char c) { return llvm::isDigit(c) || c == '.'; });
    for (const TimeUnit &unit : kTimeUnits) {
      if (text.substr(digits.size()) != unit.suffix || digits.getAsDouble(number))
        continue;
      double total = number * double(unit.milliseconds);
      if (total < 1 || total > 1e10)
        break;
      value = TimeLimit(int64_t(total));
      return std::nullopt;
    }
    return "a time like 90s, 3m, 1h, or none";
  }
  static std::string print(TimeLimit value) {
    if (value == TimeLimit::zero())
      return "none";
    for (const TimeUnit &unit : kTimeUnits)
      if (value.count() % unit.milliseconds == 0)
        return std::to_string(value.count() / unit.milliseconds) + unit.suffix.str();
    return std::to_string(value.count()) + "ms";
  }
};

template <typename E> using Names = std::vector<std::pair<llvm::StringLiteral, E>>;

template <typename E> const Names<E> &enumNames();
template <> const Names<IsaChoice> &enumNames() {
  static const Names<IsaChoice> names = {
      {"native", IsaChoice::Native}, {"avx2", IsaChoice::Avx2}, {"avx512", IsaChoice::Avx512}};
  return names;
}
template <> const Names<NumericsChoice> &enumNames() {
  static const Names<NumericsChoice> names = {{"default", NumericsChoice::Default},
                                              {"strict", NumericsChoice::Strict}};
  return names;
}
template <> const Names<ProgressChoice> &enumNames() {
  static const Names<ProgressChoice> names = {
      {"auto", ProgressChoice::Auto}, {"on", ProgressChoice::On}, {"off", ProgressChoice::Off}};
  return names;
}

template <typename E>
  requires std::is_enum_v<E>
struct ValueText<E> {
  static Expectation parse(llvm::StringRef text, E &value) {
    std::vector<std::string> words;
    for (auto &[name, candidate] : enumNames<E>()) {
      words.push_back(name.str());
      if (text == name) {
        value = candidate;
        return std::nullopt;
      }
    }
    return "one of " + llvm::join(words, ", ");
  }
  static std::string print(E value) {
    for (auto &[name, candidate] : enumNames<E>())
      if (candidate == value)
        return name.str();
    llvm_unreachable("every value of the enum has a name");
  }
};

template <typename T> ConfigField scalar(std::string path, T &value, std::string meaning) {
  ConfigField field{std::move(path), std::move(meaning)};
  field.get = [&value] { return Texts{ValueText<T>::print(value)}; };
  field.set = [&value](const Texts &texts) -> Expectation {
    if (texts.size() != 1)
      return "a single value";
    return ValueText<T>::parse(texts[0], value);
  };
  return field;
}

template <typename T>
ConfigField sequence(std::string path, std::vector<T> &values, bool commas, std::string meaning) {
  ConfigField field{std::move(path), std::move(meaning), /*list=*/true, commas};
  field.get = [&values] {
    Texts texts;
    for (const T &value : values)
      texts.push_back(ValueText<T>::print(value));
    return texts;
  };
  field.set = [&values](const Texts &texts) -> Expectation {
    std::vector<T> result;
    for (const std::string &text : texts)
      if (Expectation expected = ValueText<T>::parse(text, result.emplace_back()))
        return expected;
    values = std::move(result);
    return std::nullopt;
  };
  return field;
}

ConfigField modeField(Modes &modes) {
  ConfigField field{"mode", "which passes tune: subgraph, operator; they run in this order", /*list=*/true,
                    /*commas=*/true};
  field.get = [&modes] {
    Texts texts;
    if (modes.subgraph)
      texts.push_back("subgraph");
    if (modes.operators)
      texts.push_back("operator");
    return texts;
  };
  field.set = [&modes](const Texts &texts) -> Expectation {
    Modes result{false, false};
    for (const std::string &text : texts) {
      if (text == "subgraph" || text == "subgraph tuning")
        result.subgraph = true;
      else if (text == "operator" || text == "operator tuning")
        result.operators = true;
      else
        return "subgraph or operator, not `" + text + "`";
    }
    if (texts.empty())
      return "subgraph, operator or both";
    modes = result;
    return std::nullopt;
  };
  return field;
}

} // namespace

std::vector<ConfigField> configFields(Config &config) {
  return {
      modeField(config.mode),
      scalar("target.isa", config.target.isa,
             "instruction set that code is generated for: native, avx2, avx512"),
      scalar("target.threads", config.target.threads, "threads of the deployed model; 0: the physical cores"),
      scalar("target.numerics", config.target.numerics,
             "default, or strict: no reassociation beyond the plain order, denormals kept"),
      sequence("target.input_shapes", config.target.inputShapes, /*commas=*/false,
               "shapes that bind dynamic dimensions, as NAME=1x3x224x224"),
      sequence("target.input_values", config.target.inputValues, /*commas=*/false,
               "inputs that become constants of the model, as NAME=16000 or NAME=FILE.npy"),
      scalar("subgraph.partition", config.subgraph.partition,
             "a partition file to apply instead of searching; empty: search"),
      sequence("operator.only", config.operators.only, /*commas=*/true,
               "tune only these node names or operator types; empty: all"),
      scalar("operator.batch", config.operators.batch,
             "candidates compiled and measured between two looks at the cost model"),
      scalar("operator.seed", config.operators.seed, "seed of every random choice"),
      scalar("budget.time", config.budget.time,
             "time for the whole run (90s, 3m, 1h, none); it ends earlier when gains end"),
      scalar("budget.trials", config.budget.trials, "candidates measured in the whole run; 0: no limit"),
      scalar("repository.directory", config.repository.directory,
             "where records are read and written; created if absent"),
      scalar("repository.builtin", config.repository.builtin, "use the records that come with the tool"),
      scalar("repository.retune", config.repository.retune,
             "search again where a record exists; a better record still wins"),
      scalar("repository.history", config.repository.history,
             "file with every measurement; empty: $XDG_DATA_HOME/autotune/history.db"),
      scalar("output.directory", config.output.directory,
             "where results and the compiled model go; empty: ./<model name>.tuned"),
      scalar("output.progress", config.output.progress,
             "progress on stderr: auto (a bar on a terminal, else lines), on (a bar), off"),
      scalar("output.quiet", config.output.quiet, "nothing on stderr but errors"),
  };
}

} // namespace autotune
