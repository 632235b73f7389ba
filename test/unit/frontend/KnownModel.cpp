// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models whose operands are all known.
#include "test/unit/frontend/KnownModel.h"

namespace autotune::test {

KnownModel &KnownModel::tensor(const std::string &name, const Numbers &numbers) {
  addTensor(*this, name, numbers.type, numbers.shape, numbers.values);
  return *this;
}

KnownModel &KnownModel::microsoft(const std::string &op, const std::vector<std::string> &inputs,
                                  const std::vector<std::string> &outputs) {
  node(op, inputs, outputs);
  auto *graph = model.mutable_graph();
  graph->mutable_node(graph->node_size() - 1)->set_domain("com.microsoft");
  if (model.opset_import_size() == 1) {
    auto *opset = model.add_opset_import();
    opset->set_domain("com.microsoft");
    opset->set_version(1);
  }
  return *this;
}

std::vector<Numbers> KnownModel::evaluate() const { return evaluated(*this); }

Numbers KnownModel::result() const {
  std::vector<Numbers> outputs = evaluate();
  return outputs.empty() ? Numbers() : outputs.front();
}

std::vector<double> scattered(size_t count, int64_t low, int64_t high, uint64_t seed) {
  std::vector<double> values;
  uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (size_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    values.push_back(
        static_cast<double>(low + static_cast<int64_t>((state >> 33) % uint64_t(high - low + 1))));
  }
  return values;
}

std::vector<double> fractions(size_t count, uint64_t seed) {
  std::vector<double> values = scattered(count, -128, 128, seed);
  for (double &value : values)
    value /= 64;
  return values;
}

double roundedTo(ElementType type, double value) {
  char bytes[8];
  storeFloat(bytes, type, value);
  return loadFloat(bytes, type);
}

} // namespace autotune::test
