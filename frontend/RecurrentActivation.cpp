// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names and parameters of activation functions.
#include "frontend/RecurrentActivation.h"

namespace autotune {

mlir::FailureOr<std::vector<RecurrentActivation>> readActivations(NodeContext &node, int64_t directions,
                                                                  llvm::ArrayRef<llvm::StringRef> defaults) {
  std::vector<std::string> names = node.stringsAttribute("activations");
  if (names.empty())
    for (int64_t d = 0; d < directions; ++d)
      for (llvm::StringRef name : defaults)
        names.push_back(name.str());
  if (names.size() != directions * defaults.size())
    return node.fail(llvm::Twine(names.size()) + " activations, expected " +
                     llvm::Twine(directions * defaults.size()));
  std::vector<float> alphas = node.floatsAttribute("activation_alpha"),
                     betas = node.floatsAttribute("activation_beta");
  std::vector<RecurrentActivation> activations;
  size_t alpha = 0, beta = 0;
  for (const std::string &name : names) {
    auto activation = RecurrentActivation::withDefaults(llvm::StringRef(name).lower());
    if (!activation)
      return node.fail("activation '" + name + "' is not known");
    // The lists hold values only for those activations that have such a parameter.
    bool hasBeta = activation->beta != 0 || activation->name == "affine";
    if (activation->alpha != 0 && alpha < alphas.size())
      activation->alpha = alphas[alpha++];
    if (hasBeta && beta < betas.size())
      activation->beta = betas[beta++];
    activations.push_back(*activation);
  }
  return activations;
}

} // namespace autotune
