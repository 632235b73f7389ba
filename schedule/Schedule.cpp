// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text form of schedules.
#include "schedule/Schedule.h"

#include "schedule/Errors.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace autotune;

std::string Schedule::text() const {
  std::string text;
  for (const auto &[name, value] : knobs) {
    if (!text.empty())
      text += ' ';
    text += name + "=" + std::to_string(value);
  }
  return text;
}

static bool isKnobName(llvm::StringRef name) {
  return !name.empty() && llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

llvm::Expected<Schedule> Schedule::parse(llvm::StringRef text) {
  Schedule schedule;
  llvm::SmallVector<llvm::StringRef, 16> words;
  text.split(words, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (llvm::StringRef word : words) {
    auto [name, value] = word.split('=');
    int64_t number = 0;
    if (!isKnobName(name) || value.getAsInteger(10, number))
      return makeError("schedule: found '{0}', expected NAME=INTEGER", word);
    if (!schedule.knobs.emplace(name.str(), number).second)
      return makeError("schedule: found '{0}', expected knob '{1}' only once", word, name);
  }
  return schedule;
}
