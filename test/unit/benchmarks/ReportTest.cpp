// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The roofline's arithmetic, and what the table and the JSON say.
#include "benchmarks/Provenance.h"
#include "benchmarks/operators/OperatorReport.h"

#include <gmock/gmock.h>

using namespace autotune::benchmarks;
using ::testing::HasSubstr;
using ::testing::Not;

namespace {

OperatorResult resultOf(const Operator &op, double oursNs, double theirsNs) {
  OperatorResult result;
  result.shape = {"some", op};
  result.autotune = {"rows=4", oursNs, {oursNs}};
  result.peer = SideResult{"jit:avx2", theirsNs, {theirsNs}};
  result.speedup = RatioInterval{theirsNs / oursNs, theirsNs / oursNs, theirsNs / oursNs};
  result.bound = lowerBound(op, 10, {"L2", 50});
  return result;
}

TEST(Roofline, boundIsArithmeticOrTraffic) {
  Bound product = lowerBound(Gemm{1, 100, 100, 100}, 10, {"L2", 50});
  EXPECT_EQ(product.by, "peak");
  EXPECT_DOUBLE_EQ(product.ns, 2e6 / 10);
  Bound vectorProduct = lowerBound(Gemm{1, 1, 100, 100}, 10, {"memory", 5});
  EXPECT_EQ(vectorProduct.by, "memory");
  EXPECT_DOUBLE_EQ(vectorProduct.ns, 4.0 * (100 + 10000 + 100) / 5);
  EXPECT_DOUBLE_EQ(lowerBound(Elementwise{Elementwise::Function::Add, {100}}, 10, {"L1", 100}).ns,
                   1200.0 / 100);
}

TEST(OperatorReport, tableHasRowsAndMeans) {
  OperatorReport report;
  report.heading = "machine";
  report.results = {resultOf(Gemm{1, 100, 100, 100}, 400000, 800000),
                    resultOf(Elementwise{Elementwise::Function::Gelu, {100}}, 200, 100)};
  std::string table = report.table();
  EXPECT_THAT(
      table, HasSubstr("| some | 100x100x100 | 0.8000 | 0.4000 | 2.00 (2.00 – 2.00) | 5.00 | 0 | 50 peak |"));
  EXPECT_THAT(table, HasSubstr("matrix products, 1 operators: 2.000"));
  EXPECT_THAT(table, Not(HasSubstr("convolutions")));
  EXPECT_THAT(table, HasSubstr("all, 2 operators: 1.000"));
}

TEST(OperatorReport, algorithmsAreNamedAndThePeerMayBeOurOwnKernel) {
  OperatorReport report;
  report.peer = "direct";
  report.results = {resultOf(Convolution{64, 56, 56, 64, {3, 3}, {1, 1}, {1, 1}}, 400000, 800000)};
  report.results[0].problem = "some, channels in blocks of 16, winograd4";
  EXPECT_THAT(report.table(), HasSubstr("| operator | sizes | direct, ms | autotune, ms |"));
  EXPECT_THAT(report.table(), HasSubstr("64x56x56 -> 64, 3x3 relu, winograd4 | 0.8000 | 0.4000 | 2.00 "));
  llvm::json::Object json = report.json();
  const llvm::json::Object &row = *json.getArray("results")->front().getAsObject();
  EXPECT_EQ(row.getString("algorithm"), "winograd4");
  EXPECT_EQ(row.getObject("direct")->getNumber("median_ms"), 0.8);
  report.results[0].problem = "some, channels in blocks of 16";
  EXPECT_THAT(report.table(), Not(HasSubstr("winograd")));
}

TEST(OperatorReport, differingResultsAreMarkedAndLeftOutOfMeans) {
  OperatorReport report;
  report.results = {resultOf(Gemm{1, 100, 100, 100}, 400000, 800000)};
  report.results[0].difference = 0.5;
  EXPECT_THAT(report.table(), HasSubstr("**differs**"));
  EXPECT_THAT(report.table(), Not(HasSubstr("Geometric mean")));
  EXPECT_FALSE(report.json().getObject("geometric_means")->get("all"));
}

TEST(OperatorReport, errorsAreRows) {
  OperatorReport report;
  OperatorResult failed;
  failed.shape = {"broken", Gemm{1, 2, 3, 4}};
  failed.error = "no kernel";
  report.results = {failed};
  EXPECT_THAT(report.table(), HasSubstr("| broken | 2x3x4 | — | — | no kernel |"));
}

TEST(OperatorReport, provenanceNamesMachineAndVersions) {
  llvm::json::Object provenance = machineProvenance();
  for (const char *key : {"date", "cpu", "kernel", "autotune", "llvm"})
    EXPECT_THAT(provenance.getString(key).value_or("").str(), ::testing::MatchesRegex("[ -~]+")) << key;
}

} // namespace
