// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Workloads of the common operators, for tests.
#pragma once

#include "schedule/Device.h"
#include "schedule/Space.h"
#include "schedule/Workload.h"

#include "llvm/ADT/ArrayRef.h"

namespace autotune {

inline Device testDevice(Isa isa = Isa::Avx2) {
  Device device;
  device.vendor = "AuthenticAMD";
  device.family = 25;
  device.model = 1;
  device.isa = isa;
  device.l1Bytes = 32 << 10;
  device.l2Bytes = 512 << 10;
  device.l3Bytes = 32 << 20;
  device.cores = 2;
  return device;
}

inline void setDims(Workload &workload, llvm::ArrayRef<int64_t> parallel, llvm::ArrayRef<int64_t> reduction) {
  for (int64_t extent : parallel)
    workload.dims.push_back({extent, false});
  for (int64_t extent : reduction)
    workload.dims.push_back({extent, true});
}

using Axis = std::vector<IndexTerm>;

/// An operand that starts at its buffer's first element.
inline OperandInfo operand(std::vector<int64_t> shape, std::vector<Axis> index, bool constant = false) {
  std::vector<int64_t> offsets(shape.size(), 0);
  return {"f32", std::move(shape), std::move(offsets), std::move(index), constant};
}

/// NCHW{block}c in and out: (n, oh, ow, ob, v | ib, kh, kw, ic).
inline Workload blockedConvolution(int64_t in, int64_t out, int64_t size, int64_t kernel, int64_t block = 8,
                                   int threads = 1, int64_t stride = 1) {
  Workload w;
  w.kind = "conv2d";
  w.opClass = OpClass::Contraction;
  w.threads = threads;
  setDims(w, {1, size, size, out / block, block}, {in / block, kernel, kernel, block});
  int64_t padded = (size - 1) * stride + kernel;
  w.inputs = {operand({1, in / block, padded, padded, block},
                      {{{0, 1}}, {{5, 1}}, {{1, stride}, {6, 1}}, {{2, stride}, {7, 1}}, {{8, 1}}}),
              operand({out / block, in / block, kernel, kernel, block, block},
                      {{{3, 1}}, {{5, 1}}, {{6, 1}}, {{7, 1}}, {{8, 1}}, {{4, 1}}}, true)};
  w.output = operand({1, out / block, size, size, block}, {{{0, 1}}, {{3, 1}}, {{1, 1}}, {{2, 1}}, {{4, 1}}});
  return w;
}

/// (m, nb, v | k) with weights packed in blocks of `block` columns.
inline Workload packedMatmul(int64_t m, int64_t n, int64_t k, int64_t block = 16, int threads = 1) {
  Workload w;
  w.kind = "matmul";
  w.opClass = OpClass::Contraction;
  w.threads = threads;
  setDims(w, {m, n / block, block}, {k});
  w.inputs = {operand({m, k}, {{{0, 1}}, {{3, 1}}}),
              operand({n / block, k, block}, {{{1, 1}}, {{3, 1}}, {{2, 1}}}, true)};
  w.output = operand({m, n}, {{{0, 1}}, {{1, block}, {2, 1}}});
  return w;
}

/// (m, n | k), nothing packed.
inline Workload plainMatmul(int64_t m, int64_t n, int64_t k, int threads = 1) {
  Workload w;
  w.kind = "matmul";
  w.opClass = OpClass::Contraction;
  w.threads = threads;
  setDims(w, {m, n}, {k});
  w.inputs = {operand({m, k}, {{{0, 1}}, {{2, 1}}}), operand({k, n}, {{{2, 1}}, {{1, 1}}}, true)};
  w.output = operand({m, n}, {{{0, 1}}, {{1, 1}}});
  return w;
}

/// NCHW in and out: (n, oc, oh, ow | ic, kh, kw).
inline Workload plainConvolution(int64_t in, int64_t out, int64_t size, int64_t kernel) {
  Workload w;
  w.kind = "conv2d";
  w.opClass = OpClass::Contraction;
  setDims(w, {1, out, size, size}, {in, kernel, kernel});
  int64_t padded = size + kernel - 1;
  w.inputs = {operand({1, in, padded, padded}, {{{0, 1}}, {{4, 1}}, {{2, 1}, {5, 1}}, {{3, 1}, {6, 1}}}),
              operand({out, in, kernel, kernel}, {{{1, 1}}, {{4, 1}}, {{5, 1}}, {{6, 1}}}, true)};
  w.output = operand({1, out, size, size}, {{{0, 1}}, {{1, 1}}, {{2, 1}}, {{3, 1}}});
  return w;
}

/// NCHW{block}c depthwise: (n, cb, oh, ow, v | kh, kw).
inline Workload depthwiseConvolution(int64_t channels, int64_t size, int64_t stride = 1, int64_t block = 8,
                                     int threads = 1) {
  Workload w;
  w.kind = "depthwise_conv2d";
  w.opClass = OpClass::Depthwise;
  w.threads = threads;
  setDims(w, {1, channels / block, size, size, block}, {3, 3});
  int64_t padded = (size - 1) * stride + 3;
  w.inputs = {operand({1, channels / block, padded, padded, block},
                      {{{0, 1}}, {{1, 1}}, {{2, stride}, {5, 1}}, {{3, stride}, {6, 1}}, {{4, 1}}}),
              operand({channels / block, 3, 3, block}, {{{1, 1}}, {{5, 1}}, {{6, 1}}, {{4, 1}}}, true)};
  w.output =
      operand({1, channels / block, size, size, block}, {{{0, 1}}, {{1, 1}}, {{2, 1}}, {{3, 1}}, {{4, 1}}});
  return w;
}

/// Sums along rows: (rows | columns).
inline Workload rowSum(int64_t rows, int64_t columns) {
  Workload w;
  w.kind = "reduce_sum";
  w.opClass = OpClass::Reduction;
  setDims(w, {rows}, {columns});
  w.inputs = {operand({rows, columns}, {{{0, 1}}, {{1, 1}}})};
  w.output = operand({rows}, {{{0, 1}}});
  return w;
}

/// Softmax along rows: (rows | columns).
inline Workload softmax(int64_t rows, int64_t columns) {
  Workload w = rowSum(rows, columns);
  w.kind = "softmax";
  w.opClass = OpClass::Normalization;
  w.output = operand({rows, columns}, {{{0, 1}}, {{1, 1}}});
  return w;
}

/// (heads, queries, size | keys, size), heads first.
inline Workload attention(int64_t heads, int64_t queries, int64_t keys, int64_t size) {
  Workload w;
  w.kind = "attention";
  w.opClass = OpClass::Attention;
  setDims(w, {heads, queries, size}, {keys, size});
  w.inputs = {operand({heads, queries, size}, {{{0, 1}}, {{1, 1}}, {{4, 1}}}),
              operand({heads, keys, size}, {{{0, 1}}, {{3, 1}}, {{4, 1}}}),
              operand({heads, keys, size}, {{{0, 1}}, {{3, 1}}, {{2, 1}}})};
  w.output = operand({heads, queries, size}, {{{0, 1}}, {{1, 1}}, {{2, 1}}});
  return w;
}

/// (directions, rows, units | steps, units, gates), with weights in blocks.
inline Workload recurrence(int64_t steps, int64_t rows, int64_t units, int64_t gates = 4,
                           int64_t directions = 1, int64_t block = 8) {
  Workload w;
  w.kind = "recurrence";
  w.opClass = OpClass::Recurrence;
  setDims(w, {directions, rows, units}, {steps, units, gates});
  w.inputs = {
      operand({steps, rows, directions, gates * units}, {{{3, 1}}, {{1, 1}}, {{0, 1}}, {{5, units}, {2, 1}}}),
      operand({directions, (units + block - 1) / block, units, gates, block},
              {{{0, 1}}, {{2, 1}}, {{4, 1}}, {{5, 1}}, {{2, 1}}}, true)};
  w.output = operand({steps, directions, rows, units}, {{{3, 1}}, {{0, 1}}, {{1, 1}}, {{2, 1}}});
  return w;
}

/// y = f(x, x) on a matrix.
inline Workload elementwise(int64_t rows, int64_t columns, int threads = 1) {
  Workload w;
  w.kind = "elementwise";
  w.opClass = OpClass::Elementwise;
  w.threads = threads;
  setDims(w, {rows, columns}, {});
  w.inputs = {operand({rows, columns}, {{{0, 1}}, {{1, 1}}}), operand({rows, columns}, {{{0, 1}}, {{1, 1}}})};
  w.output = operand({rows, columns}, {{{0, 1}}, {{1, 1}}});
  return w;
}

/// out[b, j, i] = in[b, i, j].
inline Workload transposition(int64_t batch, int64_t rows, int64_t columns) {
  Workload w;
  w.kind = "transpose";
  w.opClass = OpClass::Movement;
  setDims(w, {batch, columns, rows}, {});
  w.inputs = {operand({batch, rows, columns}, {{{0, 1}}, {{2, 1}}, {{1, 1}}})};
  w.output = operand({batch, columns, rows}, {{{0, 1}}, {{1, 1}}, {{2, 1}}});
  return w;
}

/// One of each.
inline std::vector<Workload> testWorkloads(int threads = 1) {
  std::vector<Workload> all = {blockedConvolution(64, 64, 56, 3),
                               blockedConvolution(512, 512, 7, 3),
                               blockedConvolution(256, 64, 56, 1),
                               packedMatmul(128, 768, 768),
                               packedMatmul(1, 1000, 2048, 8),
                               plainMatmul(512, 512, 512),
                               plainMatmul(1, 10, 256),
                               plainConvolution(3, 64, 112, 7),
                               depthwiseConvolution(96, 112),
                               rowSum(128, 384),
                               rowSum(4, 100000),
                               softmax(1536, 128),
                               softmax(3, 50257),
                               attention(12, 128, 128, 64),
                               attention(1, 9, 5000, 7),
                               recurrence(100, 1, 128),
                               recurrence(7, 5, 3, 3, 2, 2),
                               elementwise(128, 3072),
                               elementwise(1, 3),
                               transposition(12, 128, 32)};
  Workload scalar;
  scalar.kind = "elementwise";
  scalar.output = operand({}, {});
  all.push_back(scalar);
  for (Workload &workload : all)
    workload.threads = threads;
  return all;
}

} // namespace autotune
