// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text form, key and size of workloads; the parser is in WorkloadParser.cpp.
#include "schedule/Workload.h"

#include "schedule/WorkloadNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <cstdlib>

using namespace autotune;

std::string autotune::hashText(llvm::StringRef text) {
  return llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true, /*Width=*/16);
}

llvm::StringRef autotune::opClassName(OpClass opClass) { return kOpClassNames[size_t(opClass)]; }

llvm::StringRef autotune::numericsName(Numerics numerics) { return kNumericsNames[size_t(numerics)]; }

static void printSum(llvm::raw_ostream &stream, const std::vector<IndexTerm> &sum) {
  if (sum.empty())
    stream << "0";
  llvm::interleave(
      sum, stream,
      [&](const IndexTerm &term) {
        if (term.coefficient != 1)
          stream << term.coefficient << "*";
        stream << "d" << term.dim;
      },
      " + ");
}

static void printOperand(llvm::raw_ostream &stream, const OperandInfo &operand) {
  stream << operand.dtype << " [";
  llvm::interleave(operand.shape, stream, "x");
  stream << "] +[";
  llvm::interleave(operand.offsets, stream, ",");
  stream << "] (";
  llvm::interleaveComma(operand.index, stream, [&](const auto &sum) { printSum(stream, sum); });
  stream << ")" << (operand.constant ? " const" : "") << "\n";
}

std::string Workload::text() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "kind: " << kind << "\nclass: " << opClassName(opClass) << "\ndims:";
  for (const LoopDim &dim : dims)
    stream << " " << (dim.reduction ? "r" : "p") << dim.extent;
  stream << "\n";
  for (const OperandInfo &input : inputs) {
    stream << "input: ";
    printOperand(stream, input);
  }
  stream << "output: ";
  printOperand(stream, output);
  stream << "epilogue: " << (epilogue.empty() ? "none" : llvm::join(epilogue, ", "))
         << "\nbody: " << (body.empty() ? "none" : body) << "\nthreads: " << threads
         << "\nnumerics: " << numericsName(numerics) << "\n";
  return text;
}

std::string Workload::key() const { return hashText(text()); }

double Workload::flops() const {
  double points = 1;
  for (const LoopDim &dim : dims)
    points *= double(dim.extent);
  switch (opClass) {
  case OpClass::Contraction:
  case OpClass::Depthwise:
  case OpClass::Recurrence:
    return 2 * points;
  case OpClass::Reduction:
  case OpClass::Elementwise:
    return points;
  case OpClass::Movement:
    return 0;
  case OpClass::Normalization:
    return 5 * points; // three passes; exponentials are counted by the cost model
  case OpClass::Attention: {
    if (dims.size() < 4)
      return points;
    // One product sums over the depth for every column, the other over the columns for the width.
    auto width = double(dims[dims.size() - 3].extent), depth = double(dims.back().extent);
    return 2 * points / (width * depth) * (width + depth);
  }
  }
  llvm_unreachable("every class has a cost");
}

/// Bytes of one element in memory: the first number in "f32", "bf16", "f8E4M3FN"; i1 takes a byte, index
/// eight.
int64_t autotune::elementBytes(llvm::StringRef dtype) {
  unsigned bits = 0;
  llvm::StringRef digits = dtype.drop_while([](char c) { return !llvm::isDigit(c); });
  if (digits.consumeInteger(10, bits))
    return 8;
  return std::max<int64_t>(1, bits / 8);
}

/// Only the part of the buffer that the loops reach counts: a slice of a large tensor moves the slice.
static double operandBytes(const OperandInfo &operand, llvm::ArrayRef<LoopDim> dims) {
  double elements = 1;
  for (auto [extent, sum] : llvm::zip(operand.shape, operand.index)) {
    int64_t span = 1;
    for (const IndexTerm &term : sum)
      span += std::abs(term.coefficient) * (dims[term.dim].extent - 1);
    elements *= double(std::min(extent, span));
  }
  return elements * double(elementBytes(operand.dtype));
}

double Workload::bytes() const { return bytesRead() + bytesWritten(); }

double Workload::bytesRead() const {
  double sum = 0;
  for (const OperandInfo &input : inputs)
    sum += operandBytes(input, dims);
  return sum;
}

double Workload::bytesWritten() const { return operandBytes(output, dims); }

std::string Workload::shapesText() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto print = [&](const OperandInfo &operand) {
    if (operand.shape.empty())
      stream << "scalar";
    llvm::interleave(operand.shape, stream, "x");
    if (operand.dtype != "f32")
      stream << (operand.shape.empty() ? " " : "x") << operand.dtype;
  };
  llvm::interleaveComma(inputs, stream, print);
  stream << (inputs.empty() ? "-> " : " -> ");
  print(output);
  return text;
}
