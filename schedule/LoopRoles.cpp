// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Classifies the loops of a workload by the operands they index.
#include "schedule/LoopRoles.h"

#include "schedule/Algorithm.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace autotune;

static bool usesDimInAxis(const std::vector<IndexTerm> &axis, int dim) {
  return llvm::any_of(axis, [&](const IndexTerm &term) { return term.dim == dim; });
}

bool autotune::usesDim(const OperandInfo &operand, int dim) {
  return llvm::any_of(operand.index, [&](const auto &axis) { return usesDimInAxis(axis, dim); });
}

int64_t autotune::reductionExtent(const Workload &workload) {
  int64_t product = 1;
  for (const LoopDim &dim : workload.dims)
    if (dim.reduction)
      product *= dim.extent;
  return product;
}

/// True if `dim` steps along the last axis that has more than one element.
static bool isContiguous(const OperandInfo &operand, int dim) {
  for (size_t axis = operand.index.size(); axis-- > 0;) {
    if (operand.shape[axis] > 1)
      return usesDimInAxis(operand.index[axis], dim);
  }
  return false;
}

static std::vector<int> longParallelDims(const Workload &workload) {
  std::vector<int> dims;
  for (auto [index, dim] : llvm::enumerate(workload.dims))
    if (!dim.reduction && dim.extent > 1)
      dims.push_back(int(index));
  return dims;
}

static int takeLast(std::vector<int> &dims) {
  if (dims.empty())
    return -1;
  int last = dims.back();
  dims.pop_back();
  return last;
}

static void assignContraction(const Workload &workload, LoopRoles &roles, llvm::ArrayRef<int> others) {
  if (roles.vector >= 0 && !usesDim(workload.inputs[1], roles.vector) &&
      usesDim(workload.inputs[0], roles.vector))
    std::swap(roles.broadcastInput, roles.vectorInput);
  for (int dim : others) {
    bool broadcast = usesDim(workload.inputs[roles.broadcastInput], dim);
    bool vector = usesDim(workload.inputs[roles.vectorInput], dim);
    (broadcast == vector ? roles.batch : broadcast ? roles.outerRows : roles.outerPlanes).push_back(dim);
  }
  roles.row = takeLast(roles.outerRows);
  roles.plane = takeLast(roles.outerPlanes);
}

/// A transposition moves a square: its rows are the loop along the input's memory.
static void assignPointwise(const Workload &workload, LoopRoles &roles) {
  auto rows = llvm::find_if(roles.batch, [&](int dim) {
    return workload.opClass == OpClass::Movement && !workload.inputs.empty() &&
           isContiguous(workload.inputs[0], dim);
  });
  if (rows == roles.batch.end()) {
    roles.row = takeLast(roles.batch);
    return;
  }
  roles.row = *rows;
  roles.batch.erase(rows);
}

/// Dims stand in a fixed order: see OpClass::Attention.
static LoopRoles attentionRoles(const Workload &workload, LoopRoles roles) {
  int depth = int(workload.dims.size()) - 1;
  roles.row = depth - 3;
  roles.plane = depth - 2;
  for (int dim = 0; dim < roles.row; ++dim)
    if (workload.dims[dim].extent > 1)
      roles.batch.push_back(dim);
  return roles;
}

/// Dims stand in a fixed order: see OpClass::Recurrence.
static LoopRoles recurrenceRoles(const Workload &workload, LoopRoles roles) {
  if (workload.dims[0].extent > 1)
    roles.batch = {0};
  if (workload.dims[1].extent > 1)
    roles.row = 1;
  roles.vector = 2;
  roles.tiledVector = true;
  return roles;
}

static NestForm nestForm(const Workload &workload, llvm::ArrayRef<int> reductions) {
  if (winogradOutputs(workload.kind) > 0)
    return NestForm::Winograd;
  // A workload may come from a file: what does not have the dims of its class is none of it.
  size_t parallel = workload.dims.size() - reductions.size();
  bool endsInReductions = llvm::all_of(reductions, [&](int dim) { return size_t(dim) >= parallel; });
  if (workload.opClass == OpClass::Normalization && reductions.size() == 1 && endsInReductions)
    return NestForm::Rows;
  if (workload.opClass == OpClass::Attention && reductions.size() == 2 && parallel >= 2 && endsInReductions)
    return NestForm::Attention;
  if (workload.opClass == OpClass::Recurrence && reductions.size() == 3 && parallel == 3 && endsInReductions)
    return NestForm::Recurrence;
  if (reductions.empty())
    return NestForm::Pointwise;
  if (workload.opClass == OpClass::Contraction && workload.inputs.size() >= 2)
    return NestForm::Contraction;
  bool alongMemory = workload.opClass == OpClass::Reduction && !workload.inputs.empty() &&
                     llvm::any_of(reductions, [&](int dim) {
                       return workload.dims[dim].extent > 1 && isContiguous(workload.inputs[0], dim);
                     });
  // A window that slides along memory (plain pooling) moves with a parallel dim: that one fills the lanes.
  bool slides = alongMemory && llvm::any_of(llvm::seq<int>(0, int(workload.dims.size())), [&](int dim) {
                  return !workload.dims[dim].reduction && isContiguous(workload.inputs[0], dim);
                });
  return alongMemory && !slides && reductionExtent(workload) <= kMaxTileElements ? NestForm::RowReduction
                                                                                 : NestForm::Window;
}

/// Loops (p, t, o, v | k): see `winogradProducts`.
static void assignWinograd(const Workload &workload, LoopRoles &roles) {
  roles.batch = {0};
  roles.row = 1;
  roles.plane = workload.dims[2].extent > 1 ? 2 : -1;
  roles.vector = 3;
}

LoopRoles autotune::loopRoles(const Workload &workload) {
  LoopRoles roles;
  for (auto [index, dim] : llvm::enumerate(workload.dims))
    if (dim.reduction)
      roles.reductions.push_back(int(index));
  roles.form = nestForm(workload, roles.reductions);
  if (roles.form == NestForm::Winograd) {
    assignWinograd(workload, roles);
    return roles;
  }

  if (roles.form == NestForm::Attention)
    return attentionRoles(workload, std::move(roles));
  if (roles.form == NestForm::Recurrence)
    return recurrenceRoles(workload, std::move(roles));
  std::vector<int> others = longParallelDims(workload);
  if (roles.form == NestForm::Rows) {
    roles.batch = others;
    return roles;
  }
  if (roles.form == NestForm::RowReduction) {
    roles.row = takeLast(others);
    roles.batch = others;
    return roles;
  }
  roles.vector = takeLast(others);
  if (roles.form == NestForm::Contraction) {
    assignContraction(workload, roles, others);
  } else {
    roles.batch = others;
    if (roles.form == NestForm::Pointwise)
      assignPointwise(workload, roles);
    else
      roles.row = takeLast(roles.batch);
  }
  if (roles.vector < 0)
    return roles;
  int64_t extent = workload.dims[roles.vector].extent;
  switch (roles.form) {
  case NestForm::Contraction: {
    // The lanes of a blocked layout are one block: beside them the planes count the blocks of the same
    // channels.
    bool blocked = roles.plane >= 0 && roles.vectorInput == 1 && extent <= kMaxVectorTile;
    roles.tiledVector = !blocked && extent > 8;
    break;
  }
  case NestForm::Window:
    roles.tiledVector = extent > kMaxVectorTile;
    break;
  case NestForm::Pointwise:
    roles.tiledVector = extent > 8;
    break;
  case NestForm::RowReduction:
  case NestForm::Winograd:
  case NestForm::Rows:
  case NestForm::Attention:
  case NestForm::Recurrence:
    break;
  }
  return roles;
}

std::array<int, 3> LoopRoles::parallelDims() const {
  std::array<int, 3> dims = {-1, -1, -1};
  // Threads that share blocks of output channels transform the image each for itself.
  if (form == NestForm::Winograd)
    return {row, plane, -1};
  // Units wait for each other after every step.
  if (form == NestForm::Recurrence)
    return {batch.empty() ? -1 : batch.front(), row, -1};
  if (form == NestForm::Contraction) {
    dims[0] = cacheRow();
    dims[1] = cachePlane();
    dims[2] = !batch.empty()         ? batch.front()
              : outerRows.size() > 1 ? outerRows.front()
              : !outerPlanes.empty() ? outerPlanes.front()
                                     : -1;
    return dims;
  }
  std::vector<int> loops = batch;
  if (row >= 0)
    loops.push_back(row);
  if (tiledVector)
    loops.push_back(vector);
  for (size_t i = 0; i < loops.size() && i < dims.size(); ++i)
    dims[i] = loops[i];
  return dims;
}
