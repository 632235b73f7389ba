/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The layout of a compiled model on disk: what the linker writes and the runtime reads. Plain C.
 *
 *   +---------------------------+ 0
 *   | ELF shared object         |  exports `autotune_artifact`; has no other entry point
 *   +---------------------------+ constantsOffset (a multiple of 4096; zero bytes fill the gap)
 *   | constants                 |  constantsBytes; mapped read only, never copied
 *   +---------------------------+ constantsOffset + constantsBytes
 *   | AutotuneTrailer (40 bytes)|
 *   +---------------------------+ end of file
 */
#ifndef AUTOTUNE_RUNTIME_DEPLOY_ARTIFACT_H
#define AUTOTUNE_RUNTIME_DEPLOY_ARTIFACT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised whenever AutotuneArtifact, AutotuneKernel or the trailer changes. */
#define AUTOTUNE_ABI_VERSION 1u
/* The "format" number of the manifest's JSON text. */
#define AUTOTUNE_MANIFEST_FORMAT 1
#define AUTOTUNE_ARTIFACT_SYMBOL "autotune_artifact"
/* Eight bytes with the terminating NUL. */
#define AUTOTUNE_TRAILER_MAGIC "ATUNEv1"
#define AUTOTUNE_CONSTANTS_ALIGNMENT 4096u
/* Buffers in the arena and constants start on a multiple of this. */
#define AUTOTUNE_BUFFER_ALIGNMENT 64u

/* Computes the chunks [begin, end) of one step. `args` are buffer addresses in the order of the manifest's
 * step. Chunks are independent of each other: they may run in any order and on any thread. */
typedef void (*AutotuneKernel)(void *const *args, int64_t begin, int64_t end);

/* The value of the exported symbol `autotune_artifact`. Everything it points to lives in the shared object.
 */
typedef struct AutotuneArtifact {
  uint32_t abiVersion; /* AUTOTUNE_ABI_VERSION */
  uint32_t kernelCount;
  const AutotuneKernel *kernels;
  const char *manifest; /* JSON text, NUL-terminated */
} AutotuneArtifact;

/* The last 40 bytes of the file, little endian. Checksums are XXH3-64 with seed 0. */
typedef struct AutotuneTrailer {
  char magic[8]; /* AUTOTUNE_TRAILER_MAGIC with its NUL */
  uint64_t constantsOffset;
  uint64_t constantsBytes;
  uint64_t checksum;     /* of the constants; compared on request, since it reads all of them */
  uint64_t codeChecksum; /* of the bytes [0, constantsOffset); always compared. 0: not recorded */
} AutotuneTrailer;

#ifdef __cplusplus
}
static_assert(sizeof(AutotuneTrailer) == 40, "the trailer is part of the file format");
#endif

#endif
