// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which algorithm computes the convolution of a subgraph, as far as the cost model can tell.
#pragma once

#include "cost_model/CostModel.h"
#include "schedule/Device.h"
#include "schedule/Graph.h"
#include "schedule/Partition.h"
#include "schedule/Workload.h"

#include <map>
#include <string>
#include <vector>

namespace autotune {

/// Names of the algorithms that can compute the subgraph's root in its layout, "direct" first; one name, that
/// or "view", where there is no choice. Winograd's need a 3x3 convolution over whole blocks and default
/// numerics.
std::vector<std::string> algorithmsOf(const Graph &graph, const Subgraph &subgraph, Numerics numerics);

/// Prices algorithms, and workloads, by the best schedule that the cost model finds for each.
class AlgorithmPricer {
public:
  /// `model` outlives the pricer.
  AlgorithmPricer(Device device, const CostModel &model, int threads, Numerics numerics)
      : device(std::move(device)), model(model), threads(threads), numerics(numerics) {}

  /// The cheapest of `algorithmsOf`; another than "direct" only if it is predicted clearly cheaper.
  std::string cheapest(const Graph &graph, const Subgraph &subgraph);
  /// Gives every subgraph with a choice its cheapest algorithm.
  void assign(const Graph &graph, Partition &partition);

  /// With the best schedule that the model knows; threads and numerics are the pricer's.
  double predictedNs(Workload workload);

private:

  Device device;
  const CostModel &model;
  int threads;
  Numerics numerics;
  std::map<std::string, double> priced; // by workload key
};

} // namespace autotune
