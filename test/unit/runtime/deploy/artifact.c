/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A tiny compiled model. The manifest is a blank space that tests fill in the file. */
#include "runtime/deploy/Artifact.h"

#ifndef TEST_ABI_VERSION
#define TEST_ABI_VERSION AUTOTUNE_ABI_VERSION
#endif

enum { kChunk = 16 };

/* args: f32 in, f32 constant, f32 out; out = in + constant, 16 elements a chunk */
static void add(void *const *args, int64_t begin, int64_t end) {
  const float *in = args[0], *constant = args[1];
  float *out = args[2];
  for (int64_t i = begin * kChunk; i < end * kChunk; ++i)
    out[i] = in[i] + constant[i];
}

/* args: f32 in, f32 out; out = 2 in */
static void twice(void *const *args, int64_t begin, int64_t end) {
  const float *in = args[0];
  float *out = args[1];
  for (int64_t i = begin * kChunk; i < end * kChunk; ++i)
    out[i] = 2 * in[i];
}

static const AutotuneKernel kernels[] = {add, twice};

/* The marker that tests look for, and room behind it. */
const char test_manifest[16384] = "@MANIFEST@";

#ifndef TEST_NO_SYMBOL
__attribute__((visibility("default")))
const AutotuneArtifact autotune_artifact = {TEST_ABI_VERSION, 2, kernels, test_manifest};
#endif
