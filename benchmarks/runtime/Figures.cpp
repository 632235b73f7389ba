// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "benchmarks/runtime/Figures.h"

#include "benchmarks/Provenance.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

namespace autotune::benchmarks {

Figure Figure::of(std::string name, std::string unit, std::vector<double> rounds, std::string note) {
  std::sort(rounds.begin(), rounds.end());
  auto at = [&](double share) { return rounds[size_t(share * double(rounds.size() - 1) + 0.5)]; };
  return {std::move(name), std::move(unit), at(0.5), at(0.1), at(0.9), std::move(note)};
}

std::string FigureReport::table() const {
  std::string text = heading + "\n\n| cost | median | unit | first – last tenth | |\n|---|---|---|---|---|\n";
  for (const Figure &figure : figures)
    text += llvm::formatv("| {0} | {1:f3} | {2} | {3:f3} – {4:f3} | {5} |\n", figure.name, figure.median,
                          figure.unit, figure.low, figure.high, figure.note)
                .str();
  return text;
}

llvm::json::Object FigureReport::json() const {
  llvm::json::Array rows;
  for (const Figure &figure : figures)
    rows.push_back(llvm::json::Object{{"cost", figure.name},
                                      {"unit", figure.unit},
                                      {"median", figure.median},
                                      {"p10", figure.low},
                                      {"p90", figure.high},
                                      {"note", figure.note}});
  return llvm::json::Object{
      {"schema_version", 1}, {"provenance", llvm::json::Object(provenance)}, {"results", std::move(rows)}};
}

llvm::Error FigureReport::write(const std::string &folder) const {
  std::string document = llvm::formatv("{0:2}\n", llvm::json::Value(json())).str();
  if (llvm::Error error = writeFile(folder + "/runtime.json", document))
    return error;
  return writeFile(folder + "/runtime.md", table());
}

} // namespace autotune::benchmarks
