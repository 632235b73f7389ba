// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "benchmarks/operators/CompareOperators.h"

#include "benchmarks/KernelContext.h"
#include "benchmarks/ScheduleSearch.h"
#include "benchmarks/Turns.h"
#include "benchmarks/operators/OneDnn.h"

#include <algorithm>
#include <cmath>

namespace autotune::benchmarks {
namespace {

constexpr unsigned kSeed = 1;
constexpr int kFinalRounds = 11;

/// Untuned: images in blocks of one vector, by `algorithm`; empty: what the cost model picks. Where schedules
/// are searched, also blocks of two vectors, and the direct algorithm unless that is the peer.
std::vector<Problem> problemsOf(const OperatorShape &shape, const OperatorData &data,
                                const std::string &algorithm, const CompareOptions &options) {
  auto *conv = std::get_if<Convolution>(&shape.op);
  bool onImages = conv || std::holds_alternative<Pooling>(shape.op), searches = options.trials > 1;
  int vector = options.device.vectorBytes() / int(sizeof(float));
  std::vector<int> blocks = {onImages ? vector : 0};
  if (onImages && searches)
    blocks.push_back(2 * vector);
  std::vector<std::string> algorithms = {algorithm};
  if (conv && searches && options.peer != Peer::Direct && conv->kernel == std::array<int64_t, 2>{3, 3})
    algorithms.push_back("direct");
  std::vector<Problem> problems;
  for (const std::string &candidate : algorithms)
    for (int block : blocks) {
      std::string layout = block ? ", channels in blocks of " + std::to_string(block) : "";
      Problem problem{shape.name + layout, {{shape.op, data}}, options.device, block, options.threads};
      problem.algorithm = candidate;
      problems.push_back(std::move(problem));
    }
  return problems;
}

double differenceOfRange(const std::vector<float> &ours, const std::vector<float> &theirs) {
  double least = theirs.front(), greatest = theirs.front(), difference = 0;
  for (size_t i = 0; i < theirs.size(); ++i) {
    least = std::min<double>(least, theirs[i]);
    greatest = std::max<double>(greatest, theirs[i]);
    double distance = std::abs(double(ours[i]) - double(theirs[i]));
    difference = std::max(difference, std::isnan(distance) ? INFINITY : distance);
  }
  return difference == 0 ? 0 : difference / (greatest - least);
}

SideResult side(std::string choice, std::vector<double> roundsNs) {
  double middle = median(roundsNs);
  return {std::move(choice), middle, std::move(roundsNs)};
}

} // namespace

OperatorComparison::OperatorComparison(CompareOptions options) : options(std::move(options)) {
  loadKernelDialects(context);
}

/// The fastest of the schedules that are tried. `result` receives what it is, if given.
llvm::Expected<Trial> OperatorComparison::findBest(const OperatorShape &shape, const OperatorData &data,
                                                   const std::string &algorithm, OperatorResult *result) {
  SearchOptions search;
  search.trials = options.trials;
  search.threads = options.threads;
  search.finalRounds = kFinalRounds;
  search.path = options.folder + "/" + shape.name + (algorithm.empty() ? "" : "_" + algorithm) + ".so";
  llvm::Expected<SearchResult> found =
      searchSchedules(context, problemsOf(shape, data, algorithm, options), search);
  if (!found)
    return found.takeError();
  if (result) {
    result->problem = found->best.problem;
    result->tried = found->tried;
  }
  return std::move(found->best);
}

llvm::Error OperatorComparison::measure(OperatorResult &result) {
  const Operator &op = result.shape.op;
  OperatorData data = makeData(op, kSeed);
  llvm::Expected<Trial> ours = findBest(result.shape, data, "", &result);
  if (!ours)
    return ours.takeError();
  std::vector<TimedOperator *> sides = {ours->program.get()};
  std::unique_ptr<TimedOperator> peer;
  std::string peerChoice;
  if (options.peer == Peer::Direct) {
    llvm::Expected<Trial> direct = findBest(result.shape, data, "direct", nullptr);
    if (!direct)
      return direct.takeError();
    peer = std::move(direct->program);
    peerChoice = direct->schedules;
  } else if (options.peer == Peer::OneDnn) {
    llvm::Expected<std::unique_ptr<PeerOperator>> made = makeOneDnnOperator(op, data, options.threads);
    if (made) {
      peerChoice = (*made)->implementation();
      peer = std::move(*made);
    } else {
      result.peerError = llvm::toString(made.takeError());
    }
  }
  if (peer)
    sides.push_back(peer.get());
  RoundSamples samples =
      timeInTurns(sides, {options.device.isa, options.threads, options.rounds, options.turnMs * 1e6});
  result.autotune = side(ours->schedules, samples.ns[0]);
  std::vector<double> percents;
  for (size_t round = 0; round < samples.peakGflops.size(); ++round)
    percents.push_back(100 * flops(op) / samples.ns[0][round] / samples.peakGflops[round]);
  result.peakGflops = median(samples.peakGflops);
  result.percentOfPeak = median(percents);
  result.bandwidth = measureBandwidth(options.device, options.threads, bytes(op));
  result.bound = lowerBound(op, result.peakGflops, result.bandwidth);
  if (peer) {
    result.peer = side(peerChoice, samples.ns[1]);
    result.speedup = medianRatio(samples.ns[1], samples.ns[0]);
    result.difference = differenceOfRange(sides[0]->output(), peer->output());
  }
  return llvm::Error::success();
}

OperatorResult OperatorComparison::compare(const OperatorShape &shape) {
  OperatorResult result;
  result.shape = shape;
  if (llvm::Error error = measure(result))
    result.error = llvm::toString(std::move(error));
  return result;
}

} // namespace autotune::benchmarks
