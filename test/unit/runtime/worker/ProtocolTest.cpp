// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/worker/Protocol.h"

#include <gmock/gmock.h>

using namespace autotune::worker;
using testing::HasSubstr;

namespace {

template <typename T> T roundTrip(const T &value) {
  std::string line;
  if constexpr (std::is_constructible_v<Request, T>) {
    line = encode(Request(value));
    auto decoded = decodeRequest(line);
    EXPECT_TRUE(static_cast<bool>(decoded)) << line;
    return std::get<T>(*decoded);
  } else {
    line = encode(Reply(value));
    auto decoded = decodeReply(line);
    EXPECT_TRUE(static_cast<bool>(decoded)) << line;
    return std::get<T>(*decoded);
  }
}

} // namespace

TEST(Protocol, RequestsRoundTripOnOneLine) {
  BuildRequest build{"func.func @k() {\n  return\n}", "kind conv2d\n", "rows=6", "/tmp/1.so"};
  EXPECT_EQ(encode(Request(build)).find('\n'), std::string::npos);
  BuildRequest again = roundTrip(build);
  EXPECT_EQ(again.kernel, build.kernel);
  EXPECT_EQ(again.schedule, build.schedule);
  build.schedule.reset();
  EXPECT_FALSE(roundTrip(build).schedule);

  PrepareRequest prepare;
  prepare.task.id = "k";
  prepare.task.args = {{ArgRole::Weight, "f32", 64}, {ArgRole::Output, "i64", 8}};
  prepare.task.check = {CheckKind::Contraction, 4608};
  prepare.task.threads = 2;
  prepare.task.streamedWeightBytes = int64_t(1) << 40;
  prepare.reference = {"/tmp/r.so", "kernel", 14};
  PrepareRequest prepared = roundTrip(prepare);
  ASSERT_EQ(prepared.task.args.size(), 2u);
  EXPECT_EQ(prepared.task.args[0].role, ArgRole::Weight);
  EXPECT_EQ(prepared.task.args[1].dtype, "i64");
  EXPECT_EQ(prepared.task.check.kind, CheckKind::Contraction);
  EXPECT_EQ(prepared.task.check.reductionSize, 4608);
  EXPECT_EQ(prepared.task.streamedWeightBytes, int64_t(1) << 40);
  EXPECT_EQ(prepared.reference.chunks, 14);

  MeasureRequest measure{{"/tmp/2.so", "kernel", 3}, {}};
  measure.limits.slowNs = 77;
  EXPECT_EQ(roundTrip(measure).limits.slowNs, 77);
  EXPECT_EQ(roundTrip(ConfirmRequest{{"a", "b", 1}, {"c", "d", 2}, 9}).second.chunks, 2);
}

TEST(Protocol, RepliesRoundTrip) {
  Timing timing = roundTrip(Timing{1234.5, 0.25, 7});
  EXPECT_EQ(timing.medianNs, 1234.5);
  EXPECT_EQ(timing.samples, 7);
  EXPECT_EQ(roundTrip(PairedTiming{1.5, 1.25, 1.75, {}, {}, {}}).high, 1.75);
  EXPECT_EQ(roundTrip(BuiltKernel{"p", "s", 5}).symbol, "s");
  EXPECT_EQ(roundTrip(WorkerFailure{"check", "no"}).stage, "check");
  roundTrip(Prepared{});
  // Bytes that are no UTF-8 must not break the line.
  EXPECT_THAT(roundTrip(WorkerFailure{"crash", "bad \xff byte"}).reason, HasSubstr("bad "));
}

TEST(Protocol, BadLinesAreErrorsThatSayWhy) {
  auto errorOf = [](const char *line) {
    auto request = decodeRequest(line);
    return request ? std::string() : llvm::toString(request.takeError());
  };
  EXPECT_NE(errorOf(""), "");
  EXPECT_NE(errorOf("{"), "");
  EXPECT_THAT(errorOf("[1]"), HasSubstr("no JSON object"));
  EXPECT_THAT(errorOf("{\"dance\":{}}"), HasSubstr("no known kind"));
  EXPECT_THAT(errorOf("{\"build\":{\"kernel\":\"\",\"workload\":\"\"}}"),
              HasSubstr("build: 'path' is missing"));
  EXPECT_THAT(errorOf("{\"measure\":{\"kernel\":{\"path\":1,\"symbol\":\"\",\"chunks\":1},\"limits\":{}}}"),
              HasSubstr("'path' is missing or of the wrong type"));
}
