// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "benchmarks/operators/OperatorReport.h"

#include "benchmarks/Provenance.h"

#include "llvm/Support/FormatVariadic.h"

namespace autotune::benchmarks {
namespace {

/// As in the comparison of whole models.
constexpr double kLargestDifference = 1e-3;

/// Three digits, as far as that is possible without an exponent.
std::string digits(double value) {
  int decimals = value < 1 ? 4 : value < 10 ? 2 : value < 100 ? 1 : 0;
  return llvm::formatv(("{0:f" + std::to_string(decimals) + "}").c_str(), value).str();
}

std::string speedupText(const OperatorResult &result) {
  if (!result.speedup)
    return "—";
  return llvm::formatv("{0:f2} ({1:f2} – {2:f2}){3}", result.speedup->ratio, result.speedup->low,
                       result.speedup->high, result.agrees() ? "" : " **differs**")
      .str();
}

std::string row(const OperatorResult &result) {
  std::string sizes = sizesText(result.shape.op);
  if (result.algorithm() != "direct")
    sizes += ", " + result.algorithm();
  if (!result.error.empty())
    return llvm::formatv("| {0} | {1} | — | — | {2} | | | |\n", result.shape.name, sizes, result.error).str();
  bool contracts = flops(result.shape.op) > 0;
  return llvm::formatv("| {0} | {1} | {2} | {3} | {4} | {5} | {6} | {7:f0} {8} |\n", result.shape.name, sizes,
                       result.peer ? digits(result.peer->medianNs / 1e6) : "—",
                       digits(result.autotune.medianNs / 1e6), speedupText(result),
                       contracts ? digits(result.gflops()) : "—",
                       contracts ? llvm::formatv("{0:f0}", result.percentOfPeak).str() : "—",
                       result.percentOfBound(), result.bound.by)
      .str();
}

std::vector<double> speedups(const std::vector<OperatorResult> &results, const std::string &group) {
  std::vector<double> ratios;
  for (const OperatorResult &result : results)
    if (result.speedup && result.agrees() && (group.empty() || operatorGroup(result.shape.op) == group))
      ratios.push_back(result.speedup->ratio);
  return ratios;
}

constexpr std::pair<const char *, const char *> kGroups[] = {
    {"gemm", "matrix products"}, {"convolution", "convolutions"}, {"other", "the rest"}, {"", "all"}};

llvm::json::Object toJson(const SideResult &side) {
  return llvm::json::Object{{"choice", side.choice},
                            {"median_ms", side.medianNs / 1e6},
                            {"rounds_ns", llvm::json::Array(side.roundsNs)}};
}

llvm::json::Object toJson(const OperatorResult &result, const std::string &peer) {
  llvm::json::Object object{{"operator", result.shape.name},
                            {"sizes", sizesText(result.shape.op)},
                            {"group", operatorGroup(result.shape.op)},
                            {"flops", flops(result.shape.op)},
                            {"bytes", bytes(result.shape.op)}};
  if (!result.error.empty()) {
    object["error"] = result.error;
    return object;
  }
  object["autotune"] = toJson(result.autotune);
  object["problem"] = result.problem;
  object["algorithm"] = result.algorithm();
  object["schedules_tried"] = int64_t(result.tried);
  object["gflops"] = result.gflops();
  object["peak_gflops"] = result.peakGflops;
  object["percent_of_peak"] = result.percentOfPeak;
  object["percent_of_roofline"] = result.percentOfBound();
  object["read_gbs"] = result.bandwidth.gbs;
  object["bound_by"] = result.bound.by;
  if (!result.peerError.empty())
    object["peer_error"] = result.peerError;
  if (result.peer) {
    object[llvm::StringRef(peer).lower()] = toJson(*result.peer);
    object["difference_of_range"] = result.difference;
    object["same_results"] = result.agrees();
    object["speedup"] = llvm::json::Object{
        {"ratio", result.speedup->ratio}, {"low", result.speedup->low}, {"high", result.speedup->high}};
  }
  return object;
}

} // namespace

std::string OperatorResult::algorithm() const {
  llvm::StringRef last = llvm::StringRef(problem).rsplit(", ").second;
  return last.starts_with("winograd") ? last.str() : "direct";
}

bool OperatorResult::agrees() const { return difference <= kLargestDifference; }

std::string OperatorReport::table() const {
  std::string text = heading + "\n\n| operator | sizes | " + peer +
                     ", ms | autotune, ms | speed-up (95 % interval) | GFLOP/s "
                     "| % of peak | % of roofline |\n|---|---|---|---|---|---|---|---|\n";
  for (const OperatorResult &result : results)
    text += row(result);
  text += "\n";
  for (auto [group, name] : kGroups)
    if (std::vector<double> ratios = speedups(results, group); !ratios.empty())
      text += llvm::formatv("Geometric mean over {0}, {1} operators: {2:f3}\n", name, ratios.size(),
                            geometricMean(ratios));
  return text;
}

llvm::json::Object OperatorReport::json() const {
  llvm::json::Array rows, bandwidths;
  for (const OperatorResult &result : results)
    rows.push_back(toJson(result, peer));
  for (const Bandwidth &level : levels)
    bandwidths.push_back(llvm::json::Object{{"level", level.level}, {"read_gbs", level.gbs}});
  llvm::json::Object means;
  for (auto [group, name] : kGroups)
    if (std::vector<double> ratios = speedups(results, group); !ratios.empty())
      means[*group ? group : "all"] = geometricMean(ratios);
  return llvm::json::Object{{"schema_version", 1},
                            {"provenance", llvm::json::Object(provenance)},
                            {"bandwidth", std::move(bandwidths)},
                            {"geometric_means", std::move(means)},
                            {"results", std::move(rows)}};
}

llvm::Error OperatorReport::write(const std::string &folder) const {
  std::string document = llvm::formatv("{0:2}\n", llvm::json::Value(json())).str();
  if (llvm::Error error = writeFile(folder + "/" + stem + ".json", document))
    return error;
  return writeFile(folder + "/" + stem + ".md", table());
}

} // namespace autotune::benchmarks
