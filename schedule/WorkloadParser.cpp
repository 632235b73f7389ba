// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads the canonical text of a workload back; accepts nothing but what `Workload::text` writes.
#include "schedule/Errors.h"
#include "schedule/Workload.h"
#include "schedule/WorkloadNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

using namespace autotune;

namespace {

/// Walks over the text. The first fault is kept; after it every step returns an empty value and does nothing.
class Reader {
public:
  explicit Reader(llvm::StringRef text) : rest(text) {}

  bool failed() const { return !message.empty(); }
  llvm::Error takeError() const { return makeError("{0}", message); }

  void fault(llvm::StringRef found, llvm::StringRef expected) {
    if (!failed())
      message = llvm::formatv("workload line {0}: found '{1}', expected {2}", line, found, expected);
  }

  bool startsWith(llvm::StringRef token) const { return !failed() && rest.starts_with(token); }

  bool consume(llvm::StringRef token) { return !failed() && rest.consume_front(token); }

  void expect(llvm::StringRef token) {
    if (!consume(token))
      fault(restOfLine(), llvm::formatv("'{0}'", token).str());
  }

  void endLine() {
    if (!consume("\n"))
      fault(restOfLine(), "the end of the line");
    ++line;
  }

  void endText() {
    if (!failed() && !rest.empty())
      fault(restOfLine(), "the end of the text");
  }

  /// Letters, digits, '_' and '.'.
  std::string word(llvm::StringRef expected) {
    if (failed())
      return {};
    llvm::StringRef token = rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
    if (token.empty())
      fault(restOfLine(), expected);
    rest = rest.drop_front(token.size());
    return token.str();
  }

  int64_t integer(int64_t minimum, int64_t maximum, llvm::StringRef expected) {
    if (failed())
      return minimum;
    llvm::StringRef before = restOfLine();
    int64_t value = 0;
    if (rest.consumeInteger(10, value) || value < minimum || value > maximum) {
      fault(before, expected);
      return minimum;
    }
    return value;
  }

  template <typename Enum, size_t N> Enum oneOf(const llvm::StringLiteral (&names)[N]) {
    std::string expected = "one of: " + llvm::join(std::begin(names), std::end(names), ", ");
    std::string found = word(expected);
    const auto *position = llvm::find(names, llvm::StringRef(found));
    if (position == std::end(names)) {
      fault(found, expected);
      return Enum(0);
    }
    return Enum(position - names);
  }

private:
  llvm::StringRef restOfLine() const {
    return rest.take_until([](char c) { return c == '\n'; });
  }

  llvm::StringRef rest;
  int line = 1;
  std::string message;
};

} // namespace

// Buffers of 2^40 elements along an axis are beyond any machine; the bound keeps products inside int64.
static constexpr int64_t kMaxExtent = int64_t(1) << 40;

static std::vector<LoopDim> readDims(Reader &reader) {
  std::vector<LoopDim> dims;
  while (reader.consume(" ")) {
    bool reduction = reader.consume("r");
    if (!reduction)
      reader.expect("p");
    if (!reduction && !dims.empty() && dims.back().reduction)
      reader.fault("p", "parallel loops before reductions");
    dims.push_back({reader.integer(1, kMaxExtent, "an extent of at least 1"), reduction});
  }
  return dims;
}

static std::vector<IndexTerm> readSum(Reader &reader, int dims) {
  std::vector<IndexTerm> sum;
  if (!reader.startsWith("0*") && reader.consume("0"))
    return sum;
  do {
    IndexTerm term;
    if (!reader.startsWith("d")) {
      term.coefficient = reader.integer(-kMaxExtent, kMaxExtent, "an index such as 2*d1 + d6");
      reader.expect("*");
    }
    reader.expect("d");
    term.dim = int(reader.integer(0, dims - 1, "the number of a loop"));
    sum.push_back(term);
  } while (reader.consume(" + "));
  return sum;
}

static OperandInfo readOperand(Reader &reader, int dims) {
  OperandInfo operand;
  operand.dtype = reader.word("an element type");
  reader.expect(" [");
  if (!reader.startsWith("]"))
    do
      operand.shape.push_back(reader.integer(0, kMaxExtent, "an extent"));
    while (reader.consume("x"));
  reader.expect("] +[");
  for (size_t axis = 0; axis < operand.shape.size(); ++axis) {
    if (axis > 0)
      reader.expect(",");
    operand.offsets.push_back(reader.integer(-kMaxExtent, kMaxExtent, "an offset"));
  }
  reader.expect("] (");
  for (size_t axis = 0; axis < operand.shape.size(); ++axis) {
    if (axis > 0)
      reader.expect(", ");
    operand.index.push_back(readSum(reader, dims));
  }
  reader.expect(")");
  operand.constant = reader.consume(" const");
  reader.endLine();
  return operand;
}

static std::vector<std::string> readEpilogue(Reader &reader) {
  std::vector<std::string> epilogue;
  do
    epilogue.push_back(reader.word("an operation such as arith.addf, or none"));
  while (reader.consume(", "));
  if (epilogue == std::vector<std::string>{"none"})
    epilogue.clear();
  return epilogue;
}

static Workload readWorkload(Reader &reader) {
  Workload workload;
  reader.expect("kind: ");
  workload.kind = reader.word("the kind of an operator");
  reader.endLine();
  reader.expect("class: ");
  workload.opClass = reader.oneOf<OpClass>(kOpClassNames);
  reader.endLine();
  reader.expect("dims:");
  workload.dims = readDims(reader);
  reader.endLine();
  while (reader.consume("input: "))
    workload.inputs.push_back(readOperand(reader, int(workload.dims.size())));
  reader.expect("output: ");
  workload.output = readOperand(reader, int(workload.dims.size()));
  reader.expect("epilogue: ");
  workload.epilogue = readEpilogue(reader);
  reader.endLine();
  reader.expect("body: ");
  workload.body = reader.word("a digest, or none");
  if (workload.body == "none")
    workload.body.clear();
  reader.endLine();
  reader.expect("threads: ");
  workload.threads = int(reader.integer(1, 1 << 16, "a number of threads"));
  reader.endLine();
  reader.expect("numerics: ");
  workload.numerics = reader.oneOf<Numerics>(kNumericsNames);
  reader.endLine();
  reader.endText();
  return workload;
}

llvm::Expected<Workload> Workload::parse(llvm::StringRef text) {
  Reader reader(text);
  Workload workload = readWorkload(reader);
  if (reader.failed())
    return reader.takeError();
  // What is left are other spellings of the same value ("p08", "1*d0"): a second text would be a second key.
  std::string canonical = workload.text();
  llvm::SmallVector<llvm::StringRef, 16> found, expected;
  text.split(found, '\n');
  llvm::StringRef(canonical).split(expected, '\n');
  for (size_t line = 0; line < std::min(found.size(), expected.size()); ++line)
    if (found[line] != expected[line])
      return makeError("workload line {0}: found '{1}', expected '{2}'", line + 1, found[line],
                       expected[line]);
  return workload;
}
