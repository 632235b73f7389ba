// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names, versions and the order of records.
#include "knowledge_base/Record.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/VersionTuple.h"

#include <ctime>

using namespace autotune;

llvm::StringRef autotune::outcomeName(SearchOutcome outcome) {
  return outcome == SearchOutcome::Improved ? "improved" : "default-best";
}

bool CodegenVersion::isNewerThan(const CodegenVersion &other) const {
  llvm::VersionTuple mine, theirs;
  mine.tryParse(llvm);
  theirs.tryParse(other.llvm);
  if (mine != theirs)
    return mine > theirs;
  if (number != other.number)
    return number > other.number;
  return llvm > other.llvm; // "19.1.7" and "19.1.7-rc1" are one tuple; some order is needed
}

std::string autotune::currentDate() {
  std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  return {text, std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc)};
}

const RecordBase &autotune::base(const AnyRecord &record) {
  return std::visit([](const auto &value) -> const RecordBase & { return value; }, record);
}

llvm::StringRef autotune::folder(const AnyRecord &record) {
  return std::visit([](const auto &value) -> llvm::StringRef { return value.kFolder; }, record);
}

std::string autotune::recordFileName(const RecordBase &record) {
  return fileNamePart(record.name) + "-" + record.key() + ".yaml";
}

std::string autotune::fileNamePart(llvm::StringRef name) {
  constexpr size_t kMaxLength = 64; // with key and temporary suffix far below the 255 bytes of a file name
  std::string part;
  for (char c : name.take_front(kMaxLength))
    part += llvm::isAlnum(c) || c == '_' || (c == '.' && !part.empty()) ? c : '_';
  return part.empty() ? "_" : part;
}

template <typename Record> bool autotune::isBetter(const Record &left, const Record &right) {
  const CodegenVersion &leftCode = left.provenance.codegen, &rightCode = right.provenance.codegen;
  if (!(leftCode == rightCode))
    return leftCode.isNewerThan(rightCode);
  if (left.speedup.value != right.speedup.value)
    return left.speedup.value > right.speedup.value;
  return hashText(recordText(left)) <= hashText(recordText(right));
}

template bool autotune::isBetter(const OperatorRecord &, const OperatorRecord &);
template bool autotune::isBetter(const SubgraphRecord &, const SubgraphRecord &);
template bool autotune::isBetter(const ModelRecord &, const ModelRecord &);
