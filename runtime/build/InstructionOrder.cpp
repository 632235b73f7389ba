// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One pass over each block from its end; an option of LLVM that has no other interface.

#include "runtime/build/InstructionOrder.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/CommandLine.h"

namespace autotune {
namespace {

/// Longer blocks are straight-line code for whole rows, where the distance hardly matters and looking for it
/// does.
constexpr int kMaxDistance = 2048;

/// The first instruction behind `instruction` in its block that uses it; null if one that may write memory
/// comes first (and matters), or none is near.
llvm::Instruction *firstUse(llvm::Instruction &instruction, bool readsMemory) {
  llvm::Instruction *next = instruction.getNextNode();
  for (int distance = 0; next && distance < kMaxDistance; next = next->getNextNode(), ++distance) {
    if (llvm::is_contained(next->operands(), &instruction))
      return next;
    if (readsMemory && next->mayWriteToMemory())
      return nullptr;
  }
  return nullptr;
}

/// What turns a number in memory into the vector that is used goes along with the load; so does a product that will be
/// one instruction with the sum that it is for: all products of a step come before its sums.
bool goesWithLoad(llvm::Instruction &instruction) {
  if (instruction.getOpcode() == llvm::Instruction::FMul)
    return instruction.hasOneUse();
  if (auto *insert = llvm::dyn_cast<llvm::InsertElementInst>(&instruction))
    return llvm::isa<llvm::UndefValue>(insert->getOperand(0));
  if (auto *shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(&instruction))
    return shuffle->isZeroEltSplat();
  return llvm::isa<llvm::FPExtInst, llvm::GetElementPtrInst>(instruction);
}

} // namespace

void sinkLoads(llvm::Function &function) {
  for (llvm::BasicBlock &block : function)
    // From the end: what uses a value has found its place before the value looks for it.
    for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::reverse(block))) {
      auto *load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      if (!(load && load->isSimple()) && !goesWithLoad(instruction))
        continue;
      llvm::Instruction *use = firstUse(instruction, /*readsMemory=*/load != nullptr);
      if (use && use != instruction.getNextNode())
        instruction.moveBefore(use);
    }
}

void keepInstructionOrder() {
  llvm::StringMap<llvm::cl::Option *> &options = llvm::cl::getRegisteredOptions();
  auto scheduling = options.find("enable-misched");
  if (scheduling != options.end() && scheduling->second->getNumOccurrences() == 0)
    scheduling->second->addOccurrence(0, "enable-misched", "false");
}

} // namespace autotune
