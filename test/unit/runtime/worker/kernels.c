/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Candidates of one task, good and bad: f32 in[1024], f32 weight[1024], f32 out[1024]; 16 chunks of 64. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define KERNEL(name) void name(void *const *args, int64_t begin, int64_t end)
enum { kChunk = 64, kChunks = 16 };

static void compute(void *const *args, int64_t begin, int64_t end, float factor) {
  const float *in = args[0], *weight = args[1];
  float *out = args[2];
  for (int64_t i = begin * kChunk; i < end * kChunk; ++i)
    out[i] = in[i] * weight[i] * factor;
}

KERNEL(good) { compute(args, begin, end, 1.0f); }

/* The same result, twenty times the work. */
KERNEL(slow) {
  for (int i = 0; i < 20; ++i) {
    compute(args, begin, end, 1.0f);
    __asm__ volatile("" ::: "memory");
  }
}

/* Off by far less than a wrong index, by far more than rounding. */
KERNEL(wrong) { compute(args, begin, end, 1.001f); }

KERNEL(forgets_the_last_chunk) {
  if (begin < kChunks - 1)
    compute(args, begin, end < kChunks - 1 ? end : kChunks - 1, 1.0f);
}

KERNEL(writes_behind_its_output) {
  compute(args, begin, end, 1.0f);
  ((float *)args[2])[1024] = 1;
}

KERNEL(writes_to_its_weights) {
  ((float *)args[1])[0] = 1;
  compute(args, begin, end, 1.0f);
}

KERNEL(crashes) {
  fprintf(stderr, "about to crash\n");
  *(volatile int *)8 = 1;
}

KERNEL(hangs) {
  for (;;)
    __asm__ volatile("");
}

KERNEL(takes_all_memory) {
  for (;;) {
    size_t bytes = (size_t)64 << 20;
    volatile char *block = malloc(bytes);
    if (!block) {
      fprintf(stderr, "no more memory\n");
      abort();
    }
    block[0] = 1;
  }
}
